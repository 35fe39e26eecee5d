"""Endpoints with a load balancer for each space, so that each space has an address of its own."""

from collections.abc import Mapping

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import reported, sizes
from workers.infra.kubernetes.endpoints.kind import Address, Choice, EndpointKind, outer_host
from workers.infra.kubernetes.reported import Reported

_NO_BALANCER = (
    "The cluster has not given the space's load balancer an address yet. If this lasts, check that "
    "the cluster has a load balancer controller, and read the events of the service `messaging`."
)


class LoadBalancer(EndpointKind):
    """The kind ``loadbalancer``: a service of type LoadBalancer.

    Clients use the address that the cluster assigns. If the installation has a domain, clients use
    the space's host name in the domain instead, for which ExternalDNS creates the DNS record.
    """

    service_type = "LoadBalancer"
    pending = _NO_BALANCER

    def service_annotations(self, choice: Choice, namespace: Namespace) -> Mapping[str, str]:
        if not choice.domain:
            return choice.annotations
        # ExternalDNS creates a DNS record from this annotation.
        hostname = {"external-dns.alpha.kubernetes.io/hostname": outer_host(choice, namespace)}
        return {**choice.annotations, **hostname}

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        host = outer_host(choice, namespace) if choice.domain else balancer(service)
        return (host, sizes.PORTS[Listener.AMQPS]) if host else None

    def trouble(self, service: reported.Service, lead: Reported | None) -> str:
        return "" if balancer(service) else _NO_BALANCER


def balancer(service: reported.Service) -> str:
    """Return the host name or IP address of a service's load balancer; empty if it has none."""
    addresses = service.status.load_balancer.ingress
    # An address has one of the two (API reference, LoadBalancerIngress).
    return addresses[0].hostname or addresses[0].ip if addresses else ""
