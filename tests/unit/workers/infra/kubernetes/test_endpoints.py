"""What the cluster says of the way to a space from outside."""

from typing import Any

import pytest

from controlplane.core.instance_names import Kind
from tests.support.infra.places import SPACE, cluster
from workers.infra.kubernetes import endpoints
from workers.infra.kubernetes.cluster import EndpointKind

TAKEN = {"type": "Admitted", "status": "False", "message": "host is claimed by another"}
LET_IN = {**TAKEN, "status": "True"}
FORBIDDEN = {"type": "Accepted", "status": "False", "reason": "NotAllowedByListeners"}
ASKED = {"namespace": "edge", "name": "public"}
FORMER = {"namespace": "edge", "name": "former"}
NO_SERVICE = {"type": "ResolvedRefs", "status": "False", "message": "no such service"}
FINE = {"type": "Accepted", "status": "True", "message": "fine"}
OTHER = {"type": "Programmed", "status": "False", "message": "not yet"}


def parents(*told: tuple[dict[str, str], list[dict[str, str]]]) -> dict[str, Any]:
    """Return a route's status with what each gateway says."""
    return {"parents": [{"parentRef": ref, "conditions": said} for ref, said in told]}


def trouble(kind: EndpointKind, status: dict[str, Any]) -> str:
    """Return what is said when the last object of such an endpoint has this status."""
    *others, last = endpoints.build(cluster(kind), SPACE, Kind.BROKER)
    return endpoints.trouble([*others, {**last, "status": status}])


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        (EndpointKind.LOAD_BALANCER, {}, "has a load balancer controller"),
        (EndpointKind.LOAD_BALANCER, {"loadBalancer": {}}, "a load balancer controller"),
        (EndpointKind.ROUTE, {"ingress": [{"conditions": [TAKEN]}]}, "host is claimed by another"),
        (EndpointKind.GATEWAY, parents((ASKED, [FORBIDDEN])), "NotAllowedByListeners"),
        (EndpointKind.GATEWAY, parents((FORMER, [FINE]), (ASKED, [FINE, NO_SERVICE])), "no such"),
    ],
)
def test_what_the_cluster_refuses_is_told(
    kind: EndpointKind, status: dict[str, Any], says: str
) -> None:
    assert says in trouble(kind, status)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (EndpointKind.LOAD_BALANCER, {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}),
        (EndpointKind.ROUTE, {}),
        (EndpointKind.ROUTE, {"ingress": [{"conditions": [LET_IN]}]}),
        (EndpointKind.ROUTE, {"ingress": [{"conditions": [TAKEN]}, {"conditions": [LET_IN]}]}),
        (EndpointKind.GATEWAY, parents((ASKED, [FINE, OTHER]))),
        (EndpointKind.GATEWAY, parents((FORMER, [FORBIDDEN]), (ASKED, [FINE]))),
        (EndpointKind.GATEWAY, parents((FORMER, [FORBIDDEN]))),
        (EndpointKind.INGRESS, {"loadBalancer": {}}),
        (EndpointKind.SERVICE, {"loadBalancer": {}}),
        (EndpointKind.NODE_PORT, {"loadBalancer": {}}),
    ],
)
def test_what_leads_there_is_no_trouble(kind: EndpointKind, status: dict[str, Any]) -> None:
    assert trouble(kind, status) == ""
