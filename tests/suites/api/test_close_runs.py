"""Close runs over HTTP: staff alone see, start, approve and issue them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from plans.invoicing import close_runs
from plans.models import CloseRun, CloseRunInvoice, Invoice
from tests.suites.api.conftest import Cast, problem
from tests.support.api.money_rows import close_run

PATH = "/api/v1/staff/close-runs"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def run(cast: Cast, draft: Invoice) -> CloseRun:
    return close_run(draft, cast.other)


def test_a_run_shows_totals_states_and_reasons(
    staff: APIClient, run: CloseRun, draft: Invoice
) -> None:
    found = staff.get(f"{PATH}/{run.pk}").json()

    assert (found["invoices"], found["left"], found["held"], found["percent"]) == (2, 0, 1, 100)
    assert found["states"] == {"draft": 1, "held": 1}
    (total,) = found["totals"]
    assert (total["currency"], total["total_minor"]) == (draft.currency, draft.total_minor)
    (group,) = found["held_reasons"]
    assert (group["code"], group["invoices"]) == ("billing_details.missing", 1)
    assert found["action"] is None
    (listed,) = staff.get(PATH).json()["items"]
    assert (listed["id"], listed["held"]) == (run.pk, 1)
    held = staff.get(f"{PATH}/{run.pk}/invoices?state=held").json()["items"]
    assert [row["state"] for row in held] == ["held"]


def test_all_drafts_are_approved_and_issued(staff: APIClient, run: CloseRun) -> None:
    nothing = staff.post(f"{PATH}/{run.pk}/issue")
    approved = staff.post(f"{PATH}/{run.pk}/approve", {"reason": "read"})
    again = staff.post(f"{PATH}/{run.pk}/approve", {})

    problem(nothing, 409, "close_run.nothing_to_do")
    assert (approved.status_code, approved["Location"]) == (202, f"{PATH}/{run.pk}")
    action = approved.json()["action"]
    assert (action["kind"], action["invoices"], action["done"]) == ("approve", 1, 0)
    problem(again, 409, "close_run.action_running")
    close_runs.carry_out(action["id"])
    assert staff.get(f"{PATH}/{run.pk}").json()["action"]["done"] == 1
    issue = staff.post(f"{PATH}/{run.pk}/issue").json()["action"]
    close_runs.carry_out(issue["id"])
    assert staff.get(f"{PATH}/{run.pk}").json()["states"] == {"held": 1, "issued": 1}
    assert {e.action for e in AuditEvent.objects.filter(subject_type="close_run")} == {
        "close_run.approve",
        "close_run.issue",
    }


def test_a_run_of_some_tenants_is_started_and_another_with_nothing_to_do_is_refused(
    cast: Cast, staff: APIClient, run: CloseRun
) -> None:
    problem(staff.post(PATH, {"tenants": ["acme"]}), 409, "close_run.nothing_to_close")
    problem(staff.post(PATH, {"tenants": ["nobody"]}), 404, "missing")
    Invoice.objects.filter(tenant=cast.other).update(state=Invoice.State.HELD)

    started = staff.post(PATH, {"tenants": [cast.other.slug], "again": True})

    assert started.status_code == 202
    assert CloseRun.objects.get(pk=started.json()["id"]).tenant_ids == [cast.other.pk]


@pytest.mark.parametrize("who", ["owner", "viewer", "outsider", "token"])
def test_nobody_else_sees_or_starts_runs(cast: Cast, run: CloseRun, who: str) -> None:
    client = cast.call(who)

    answers = [
        client.get(PATH),
        client.get(f"{PATH}/{run.pk}"),
        client.get(f"{PATH}/{run.pk}/invoices"),
        client.post(PATH, {"again": True}),
        client.post(f"{PATH}/{run.pk}/approve", {}),
        client.post(f"{PATH}/{run.pk}/issue"),
    ]

    assert {answer.status_code for answer in answers} <= {403, 404}
    assert CloseRun.objects.count() == 1


def test_the_number_of_queries_of_a_run_does_not_grow(
    staff: APIClient, run: CloseRun, cast: Cast
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert staff.get(f"{PATH}/{run.pk}").status_code == 200
            assert staff.get(PATH).status_code == 200
        return len(captured)

    count()  # fills caches
    few = count()
    for n in range(1, 8):
        starts_at = LONG_AGO - timedelta(days=31 * n)
        row = Invoice.objects.create(
            tenant=cast.other,
            starts_at=starts_at,
            ends_at=starts_at + timedelta(days=31),
            state=Invoice.State.HELD,
            held_reasons=[{"code": f"reason.{n}", "message": "Fix it."}],
        )
        CloseRunInvoice.objects.create(run=run, invoice=row, done_at=run.finished_at)
    assert count() == few
