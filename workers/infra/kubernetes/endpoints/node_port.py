"""Endpoints on a port of every node."""

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import reported, sizes
from workers.infra.kubernetes.endpoints.kind import (
    PASSED_THROUGH_PORT,
    Address,
    Choice,
    EndpointKind,
)

_OF_OTHER_KINDS = frozenset({PASSED_THROUGH_PORT, sizes.PORTS[Listener.AMQPS]})


class NodePort(EndpointKind):
    """The kind ``nodeport``: a service of type NodePort.

    All spaces have the same host, the domain, which must resolve to the nodes. The cluster assigns
    a port to each space. Waypost stores it and asks for it again, so that clients find their space
    after somebody deleted the service, and in another cluster.
    """

    needs = ("domain",)
    service_type = "NodePort"

    def keeps(self, port: int) -> bool:
        # Not the port of an endpoint of another kind, which the space had before. The range of a
        # cluster may differ: it then refuses the port.
        return port not in _OF_OTHER_KINDS

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        port = service.spec.ports[0].node_port if service.spec.ports else None
        return (choice.domain, port) if port else None
