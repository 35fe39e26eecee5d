"""Endpoints behind the router of OpenShift, which passes TLS through."""

from collections.abc import Sequence

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import reported
from workers.infra.kubernetes.endpoints.kind import (
    NAME,
    Choice,
    PassedThrough,
    outer_host,
    refusal,
)
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.reported import ConditionsStatus, Part, Reported
from workers.infra.kubernetes.resources import ForeignObject, ForeignPart, Resource


class RouteStatus(Part):
    """The status of a Route; ``ingress`` has a report of each OpenShift router that serves it."""

    ingress: Sequence[ConditionsStatus] = ()


class ReportedRoute(Reported):
    status: RouteStatus = RouteStatus()


ROUTE = Resource(
    "Route",
    "route.openshift.io/v1",
    "routes",
    ReportedRoute,
    closed=frozenset({"/spec/alternateBackends"}),
)


class WantedPort(ForeignPart):
    target_port: str


class WantedTls(ForeignPart):
    termination: str
    insecure_edge_termination_policy: str


class WantedTarget(ForeignPart):
    kind: str
    name: str
    weight: int


class WantedSpec(ForeignPart):
    host: str
    port: WantedPort
    tls: WantedTls
    to: WantedTarget


class Route(ForeignObject):
    """The Route that leads TLS connections for the space's host name to the space's service."""

    resource = ROUTE

    spec: WantedSpec


class OpenShiftRoute(PassedThrough):
    """The kind ``route``: an OpenShift Route for each space."""

    outside = ROUTE

    def lead(self, choice: Choice, namespace: Namespace) -> Route:
        return Route(
            metadata=space_metadata(namespace, NAME, choice.annotations),
            spec=WantedSpec(
                host=outer_host(choice, namespace),
                port=WantedPort(target_port=Listener.AMQPS.value),
                # "None": clients without TLS are refused. AMQP has no redirect as HTTP has.
                tls=WantedTls(termination="passthrough", insecure_edge_termination_policy="None"),
                to=WantedTarget(kind="Service", name=NAME, weight=100),
            ),
        )

    def trouble(self, service: reported.Service, lead: Reported | None) -> str:
        if not isinstance(lead, ReportedRoute):
            return ""
        return refusal(lead, [router.conditions for router in lead.status.ingress])
