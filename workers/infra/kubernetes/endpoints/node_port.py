"""Endpoints on a port of every node."""

from workers.infra.base import Namespace
from workers.infra.kubernetes import reported
from workers.infra.kubernetes.endpoints.kind import (
    Address,
    Choice,
    EndpointKind,
)


class NodePort(EndpointKind):
    """The kind ``nodeport``: a service of type NodePort.

    All spaces have the same host, the domain, which must resolve to the nodes. The cluster assigns
    a port to each space. Waypost stores the port, and requests the same port when it creates the
    service again, also in another cluster. So clients still find their space.
    """

    needs = ("domain",)
    service_type = "NodePort"
    client_port = None

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        port = service.spec.ports[0].node_port if service.spec.ports else None
        return (choice.domain, port) if port else None
