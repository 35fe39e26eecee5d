"""Endpoints on a port of every node."""

from workers.infra.base import Namespace
from workers.infra.kubernetes import reported
from workers.infra.kubernetes.endpoints.kind import Address, Choice, EndpointKind


class NodePort(EndpointKind):
    """A service of this type; the domain is the host name of the nodes, for all spaces."""

    needs = ("domain",)
    service_type = "NodePort"

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        port = service.spec.ports[0].node_port if service.spec.ports else None
        return (choice.domain, port) if port else None
