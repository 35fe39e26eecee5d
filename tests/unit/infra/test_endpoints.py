"""What the cluster says of the way to a space from outside."""

from typing import Any

import pytest

from tests.unit.infra.places import SPACE, cluster
from workers.infra.base import Kind
from workers.infra.kubernetes import endpoints
from workers.infra.kubernetes.cluster import EndpointKind

TAKEN = {"type": "Admitted", "status": "False", "message": "host is claimed by another"}
FORBIDDEN = {"type": "Accepted", "status": "False", "reason": "NotAllowedByListeners"}
NO_SERVICE = {"type": "ResolvedRefs", "status": "False", "message": "no such service"}
FINE = {"type": "Accepted", "status": "True", "message": "fine"}
OTHER = {"type": "Programmed", "status": "False", "message": "not yet"}


def trouble(kind: EndpointKind, status: dict[str, Any]) -> str:
    """Return what is said when the last object of such an endpoint has this status."""
    *others, last = endpoints.build(cluster(kind), SPACE, Kind.BROKER)
    return endpoints.trouble([*others, {**last, "status": status}])


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        (EndpointKind.LOAD_BALANCER, {}, "is there a controller of load balancers"),
        (EndpointKind.LOAD_BALANCER, {"loadBalancer": {}}, "is there a controller"),
        (EndpointKind.ROUTE, {"ingress": [{"conditions": [TAKEN]}]}, "host is claimed by another"),
        (EndpointKind.GATEWAY, {"parents": [{"conditions": [FORBIDDEN]}]}, "NotAllowedByListeners"),
        (EndpointKind.GATEWAY, {"parents": [{"conditions": [FINE, NO_SERVICE]}]}, "no such"),
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
        (EndpointKind.ROUTE, {"ingress": [{"conditions": [{**TAKEN, "status": "True"}]}]}),
        (EndpointKind.GATEWAY, {"parents": [{"conditions": [FINE, OTHER]}]}),
        (EndpointKind.INGRESS, {"loadBalancer": {}}),
        (EndpointKind.SERVICE, {"loadBalancer": {}}),
        (EndpointKind.NODE_PORT, {"loadBalancer": {}}),
    ],
)
def test_what_leads_there_is_no_trouble(kind: EndpointKind, status: dict[str, Any]) -> None:
    assert trouble(kind, status) == ""
