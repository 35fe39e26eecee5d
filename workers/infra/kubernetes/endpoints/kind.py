"""What every kind of endpoint is: the objects that it needs, and the address that it gets. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import labels, reported, sizes
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.reported import Condition, Reported
from workers.infra.kubernetes.resources import Applied, Resource

NAME = "messaging"  # of the service, and of the object that leads to it
_PASSED_THROUGH_PORT = 443  # of ingresses, gateways and OpenShift's router
# Conditions of a route: no traffic passes while one of them is False. Sources: Gateway API
# reference, RouteStatus ("Accepted", "ResolvedRefs"); OpenShift API, RouteIngress ("Admitted").
_LEADS = frozenset({"Accepted", "ResolvedRefs", "Admitted"})

Address = tuple[str, int]  # host and port


class Choice(Protocol):
    """The installation's choice, as ``cluster.EndpointChoice`` documents it."""

    @property
    def domain(self) -> str: ...
    @property
    def class_name(self) -> str: ...
    @property
    def gateway(self) -> str: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...


class EndpointKind(ABC):
    """One kind of endpoint.

    * ``needs``: fields of the choice that must not be empty.
    * ``service_type``: the type of the service in front of the space's public instances.
    * ``outside``: the resource of the object that leads to the service; None if there is none.
    * ``pending``: what to tell the operator until the cluster has assigned an address.
    """

    needs: Sequence[str] = ()
    service_type = "ClusterIP"
    outside: Resource[Reported] | None = None
    pending = (
        "The cluster has not assigned an address to the space's endpoint yet. If this lasts, read "
        "the events of the service `messaging`."
    )

    def service_annotations(self, choice: Choice, namespace: Namespace) -> Mapping[str, str]:
        """Return the annotations of the service."""
        return choice.annotations

    def lead(self, choice: Choice, namespace: Namespace) -> Applied | None:
        """Return the object of ``outside`` that leads from outside to the service."""
        return None

    @abstractmethod
    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        """Return where clients connect, or None until the cluster has assigned it."""

    def trouble(self, service: reported.Service, lead: Reported | None) -> str:
        """Return why clients outside cannot reach the space; empty if nothing is known.

        ``lead`` is the live object of ``outside``. Ingress controllers report nothing.
        """
        return ""

    def service(self, choice: Choice, namespace: Namespace, kind: Kind) -> k8s.V1Service:
        """Return the service in front of all public instances, which are of ``kind``."""
        port = sizes.PORTS[Listener.AMQPS]
        return k8s.V1Service(
            metadata=space_metadata(namespace, NAME, self.service_annotations(choice, namespace)),
            spec=k8s.V1ServiceSpec(
                type=self.service_type,
                selector=labels.select_component(kind),
                ports=[
                    k8s.V1ServicePort(
                        name=Listener.AMQPS.value, port=port, target_port=port, protocol="TCP"
                    )
                ],
            ),
        )

    def build(self, choice: Choice, namespace: Namespace, kind: Kind) -> Sequence[Applied]:
        """Return the objects of the endpoint, the service first; clients connect to ``kind``."""
        lead = self.lead(choice, namespace)
        service = self.service(choice, namespace, kind)
        return [service] if lead is None else [service, lead]


class PassedThrough(EndpointKind):
    """A kind that shares one address between spaces, with one host for each space.

    It passes TLS through by the server name (SNI). So nothing between the client and the space's
    router or broker has a private key.
    """

    needs: Sequence[str] = ("domain",)

    @abstractmethod
    def lead(self, choice: Choice, namespace: Namespace) -> Applied: ...

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        return outer_host(choice, namespace), _PASSED_THROUGH_PORT


def inner_host(namespace: Namespace) -> str:
    """Return the host name of the space for clients inside the cluster."""
    return f"{NAME}.{namespace.name}.svc"


def outer_host(choice: Choice, namespace: Namespace) -> str:
    """Return the host name of the space in the installation's domain."""
    return f"{namespace.name}.{choice.domain}"


def refusal(lead: Reported, reports: Sequence[Sequence[Condition]]) -> str:
    """Return why traffic does not pass; empty if it does, or if nothing is reported yet.

    ``reports`` has the conditions from each router or gateway that serves ``lead``.
    """
    refused = [
        " ".join(
            condition.message or condition.reason
            for condition in conditions
            if condition.type in _LEADS and condition.status == "False"
        )
        for conditions in reports
    ]
    # One router or gateway that accepts the route is enough.
    if not refused or not all(refused):
        return ""
    return f"The cluster refuses the {lead.kind} of the space; fix it there: {refused[0]}"
