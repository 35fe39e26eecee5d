"""Endpoints behind a gateway of the Gateway API that passes TLS through.

Source: Gateway API 1.5, TLSRoute. Its standard channel serves TLSRoute only in version v1.
"""

from collections.abc import Sequence

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import reported, sizes
from workers.infra.kubernetes.endpoints.kind import (
    NAME,
    Choice,
    PassedThrough,
    outer_host,
    refusal,
)
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.reported import Condition, Part, Reported
from workers.infra.kubernetes.resources import ForeignObject, ForeignPart, Resource


class ParentRef(Part):
    namespace: str = ""
    name: str = ""


class ParentStatus(Part):
    parent_ref: ParentRef = ParentRef()
    conditions: Sequence[Condition] = ()


class RouteSpec(Part):
    parent_refs: Sequence[ParentRef] = ()


class RouteStatus(Part):
    parents: Sequence[ParentStatus] = ()


class ReportedRoute(Reported):
    spec: RouteSpec = RouteSpec()
    status: RouteStatus = RouteStatus()


TLS_ROUTE = Resource(
    "TLSRoute",
    "gateway.networking.k8s.io/v1",
    "tlsroutes",
    ReportedRoute,
    closed=frozenset({"/spec/parentRefs", "/spec/hostnames", "/spec/rules"}),
)


class WantedParent(ForeignPart):
    namespace: str
    name: str


class WantedBackend(ForeignPart):
    name: str
    port: int


class WantedRule(ForeignPart):
    backend_refs: list[WantedBackend]


class WantedSpec(ForeignPart):
    parent_refs: list[WantedParent]
    hostnames: list[str]
    rules: list[WantedRule]


class TlsRoute(ForeignObject):
    """The TLSRoute that leads TLS connections for the space's host name to the space's service."""

    resource = TLS_ROUTE

    spec: WantedSpec


class Gateway(PassedThrough):
    """The kind ``gateway``: a TLSRoute for each space, at the gateway that ``choice`` names."""

    needs = ("domain", "gateway")
    outside = TLS_ROUTE

    def lead(self, choice: Choice, namespace: Namespace) -> TlsRoute:
        owner, _, name = choice.gateway.partition("/")
        backend = WantedBackend(name=NAME, port=sizes.PORTS[Listener.AMQPS])
        return TlsRoute(
            metadata=space_metadata(namespace, NAME, choice.annotations),
            spec=WantedSpec(
                parent_refs=[WantedParent(namespace=owner, name=name)],
                hostnames=[outer_host(choice, namespace)],
                rules=[WantedRule(backend_refs=[backend])],
            ),
        )

    def trouble(self, service: reported.Service, lead: Reported | None) -> str:
        if not isinstance(lead, ReportedRoute):
            return ""
        # A gateway that the route referred to before may have left an outdated report.
        reports = [
            parent.conditions
            for parent in lead.status.parents
            if parent.parent_ref in lead.spec.parent_refs
        ]
        return refusal(lead, reports)
