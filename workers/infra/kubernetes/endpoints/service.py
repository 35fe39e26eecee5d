"""Endpoints for clients inside the cluster only."""

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import reported, sizes
from workers.infra.kubernetes.endpoints.kind import Address, Choice, EndpointKind, inner_host


class InsideOnly(EndpointKind):
    """The kind ``service``: clients in the cluster reach the service by its DNS name."""

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        return inner_host(namespace), sizes.PORTS[Listener.AMQPS]
