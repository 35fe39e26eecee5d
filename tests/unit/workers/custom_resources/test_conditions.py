"""The conditions in a resource's status."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.custom_resources.fakes import refusal, resource
from workers.custom_resources import conditions
from workers.custom_resources.kinds import ADDRESS_SPACE

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READY = {"type": "Ready", "status": "True", "reason": "Serving", "message": ""}


def shown(generation: int, observed: int, *found: dict[str, str]) -> dict[str, Any]:
    return {"generation": generation, "observed_generation": observed, "conditions": [*found]}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("quota_exceeded", "QuotaExceeded"),
        ("address.fixed_at_creation", "AddressFixedAtCreation"),
        ("conflict", "Conflict"),
    ],
)
def test_a_code_becomes_a_reason_as_kubernetes_writes_them(code: str, reason: str) -> None:
    assert conditions.camel_case(code) == reason


def test_a_refusal_says_code_text_and_fields() -> None:
    error = refusal(400, "request.invalid", "Not valid.", plan=["Give one.", "Or two."])

    condition = conditions.refused(error)

    assert condition["status"] == "False"
    assert condition["message"] == "request.invalid: Not valid. (plan: Give one. Or two.)"


@pytest.mark.parametrize(
    ("observed", "status", "reason"), [(2, "True", "Serving"), (1, "False", "Configuring")]
)
def test_a_change_that_is_not_applied_yet_is_not_ready(
    observed: int, status: str, reason: str
) -> None:
    found = conditions.of_object(shown(2, observed, READY))

    assert [(one["status"], one["reason"]) for one in found] == [(status, reason)]
    assert conditions.is_ready(found) is (status == "True")


def test_conditions_of_the_object_are_shown_beside_ready() -> None:
    routers = {"type": "Routers", "status": "False", "reason": "Mesh", "message": "m"}

    assert [one["type"] for one in conditions.of_object(shown(1, 1, routers, READY))] == [
        "Ready",
        "Routers",
    ]
    assert conditions.of_object(None)[0]["reason"] == "NotCreated"


def test_the_time_of_a_transition_stays_while_the_status_does() -> None:
    before = {"lastTransitionTime": "2020-01-01T00:00:00Z"}
    known = [{**READY, **before}, {"type": "Synced", "status": "False", **before}]
    found = resource(ADDRESS_SPACE, {"conditions": known}, type="brokered")

    stamped = conditions.stamped(found, [conditions.synced(), READY], NOW)

    assert {one["type"]: one["lastTransitionTime"] for one in stamped} == {
        "Ready": "2020-01-01T00:00:00Z",
        "Synced": "2026-01-02T03:04:05Z",
    }
    assert {one["observedGeneration"] for one in stamped} == {3}
