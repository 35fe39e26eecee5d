"""What the cluster says of the way to a space from outside."""

from typing import Any

import pytest

from controlplane.core.instance_names import Kind
from tests.support.infra.places import SPACE, cluster, live
from workers.infra.kubernetes.reported import Service

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


def trouble(kind: str, status: dict[str, Any]) -> str:
    """Return what is said when the last object of such an endpoint has this status."""
    choice = cluster(kind).endpoint
    strategy = choice.strategy
    *others, last = strategy.build(choice, SPACE, Kind.BROKER)
    reported = [*(live(other) for other in others), live(last, status=status)]
    service, *leads = reported
    assert isinstance(service, Service)
    return strategy.trouble(service, leads[0] if leads else None)


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        ("loadbalancer", {}, "has a load balancer controller"),
        ("loadbalancer", {"loadBalancer": {}}, "a load balancer controller"),
        ("route", {"ingress": [{"conditions": [TAKEN]}]}, "host is claimed by another"),
        ("gateway", parents((ASKED, [FORBIDDEN])), "NotAllowedByListeners"),
        ("gateway", parents((FORMER, [FINE]), (ASKED, [FINE, NO_SERVICE])), "no such"),
    ],
)
def test_what_the_cluster_refuses_is_told(kind: str, status: dict[str, Any], says: str) -> None:
    assert says in trouble(kind, status)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("loadbalancer", {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}),
        ("route", {}),
        ("route", {"ingress": [{"conditions": [LET_IN]}]}),
        ("route", {"ingress": [{"conditions": [TAKEN]}, {"conditions": [LET_IN]}]}),
        ("gateway", parents((ASKED, [FINE, OTHER]))),
        ("gateway", parents((FORMER, [FORBIDDEN]), (ASKED, [FINE]))),
        ("gateway", parents((FORMER, [FORBIDDEN]))),
        ("ingress", {"loadBalancer": {}}),
        ("service", {"loadBalancer": {}}),
        ("nodeport", {"loadBalancer": {}}),
    ],
)
def test_what_leads_there_is_no_trouble(kind: str, status: dict[str, Any]) -> None:
    assert trouble(kind, status) == ""
