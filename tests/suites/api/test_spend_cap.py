"""The spend cap by the API: tried, set, shown with both parts, removed."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from plans.models import SpendCap
from tests.suites.api.conftest import Cast, problem
from tests.support.plans import usage_tails

pytestmark = pytest.mark.django_db
CAP = {"amount_minor": 10, "action": "throttle"}
NEW = {"If-None-Match": "*"}


def quotas(cast: Cast, client: APIClient) -> dict[str, Any]:
    rows = client.get(cast.path("/quotas")).json()["items"]
    return {row["resource"]: row for row in rows}


def test_a_simulation_saves_nothing(cast: Cast, owner: APIClient) -> None:
    found = owner.post(cast.path("/spend-cap/simulation"), CAP).json()

    assert found["acted_at"] is not None  # the fee of the plan is more
    assert set(found["affected"]) == {"messages_in", "connections_opened"}
    assert found["days"][-1]["spent_minor"] == found["spent_minor"]
    assert not SpendCap.objects.exists()


def test_a_cap_is_set_shown_with_its_use_and_removed(cast: Cast, owner: APIClient) -> None:
    path = cast.path("/spend-cap")
    made = owner.put(path, CAP, headers=NEW)
    stale = owner.put(path, CAP, headers=NEW)
    shown = owner.get(path)
    spend = quotas(cast, owner)["spend"]
    removed = owner.delete(path)

    assert (made.json()["amount_minor"], shown.json()["action"]) == (10, "throttle")
    assert stale.status_code == 412
    assert (spend["limit"], spend["at_quota"]) == (10, "throttle")
    assert spend["used"] == spend["landed"] + spend["tail"] > 0
    assert removed.status_code == 204
    problem(owner.get(path), 404, "spend_cap.missing")
    actions = AuditEvent.objects.filter(action__startswith="spend_cap.").order_by("id")
    assert [event.action for event in actions] == ["spend_cap.set", "spend_cap.clear"]


@pytest.mark.parametrize("wrong", [{"amount_minor": 0}, {"action": "explode"}, {"more": 1}])
def test_a_wrong_cap_is_refused(cast: Cast, owner: APIClient, wrong: dict[str, Any]) -> None:
    problem(
        owner.put(cast.path("/spend-cap"), {**CAP, **wrong}, headers=NEW), 422, "request.invalid"
    )


def test_who_may_not_see_amounts_does_not_see_the_cap(cast: Cast, owner: APIClient) -> None:
    developer = cast.call("developer")
    owner.put(cast.path("/spend-cap"), CAP, headers=NEW)

    assert "spend" not in quotas(cast, developer)
    assert developer.get(cast.path("/spend-cap")).status_code == 403


def test_the_use_of_a_monthly_limit_has_two_parts(cast: Cast, owner: APIClient) -> None:
    usage_tails.store(cast.tenant.pk, {"messages_in": 7}, timezone.now())

    row = quotas(cast, owner)["messages_per_month"]

    assert (row["used"], row["landed"], row["tail"]) == (7, 0, 7)


def test_each_limit_names_the_unit_of_its_amounts(cast: Cast, owner: APIClient) -> None:
    owner.put(cast.path("/spend-cap"), CAP, headers=NEW)

    rows = quotas(cast, owner)

    units = {name: (row["unit"], row["base_per_unit"]) for name, row in rows.items()}
    assert units["spend"] == ("EUR", 100)
    assert units["connection_ms_per_month"] == ("connection-hours", 3_600_000)
    assert units["messages_per_month"] == ("messages", 1)
    assert units["spaces"] == ("", 1)
