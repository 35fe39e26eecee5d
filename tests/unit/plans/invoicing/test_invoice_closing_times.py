"""When a period may be closed, and what else may happen meanwhile."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from plans.invoicing import invoice_closing, issuing, open_periods
from plans.invoicing.draft_batch import Batch, Draft
from plans.invoicing.facts import NoSubscription
from plans.models import Invoice, PlanSubscription
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT


@pytest.mark.django_db
def test_close_now_waits_for_a_second_of_the_first_plan() -> None:
    signed_up = STARTS_AT + timedelta(days=3, milliseconds=200)
    owner = rows.tenant(signed_up)

    with pytest.raises(invoice_closing.TooEarly, match="in a second"):
        invoice_closing.close_now(
            tenant=owner, by=STAFF, now=signed_up + timedelta(milliseconds=700)
        )
    assert not Invoice.objects.exists()

    now = signed_up + timedelta(milliseconds=800)  # the next whole second
    invoice, _ = invoice_closing.close_now(tenant=owner, by=STAFF, now=now)
    closed = invoice_closing.close(invoice=invoice, evidence=rows.evidence(), by=STAFF)
    assert closed.state == Invoice.State.DRAFT


@pytest.mark.django_db
def test_close_now_waits_for_a_second_of_the_next_period() -> None:
    owner = rows.tenant()
    now = STARTS_AT + timedelta(days=10, milliseconds=200)
    invoice_closing.close_now(tenant=owner, by=STAFF, now=now)

    with pytest.raises(invoice_closing.TooEarly, match="in a second"):
        invoice_closing.close_now(tenant=owner, by=STAFF, now=now + timedelta(milliseconds=700))

    assert Invoice.objects.count() == 1


@pytest.mark.django_db
def test_close_now_refuses_a_period_after_the_last_plan() -> None:
    owner = rows.tenant()
    ended_at = STARTS_AT + timedelta(days=10, milliseconds=600)
    PlanSubscription.objects.filter(tenant=owner).update(ends_at=ended_at)
    closed_at = ended_at + timedelta(milliseconds=200)  # the same second
    last, _ = invoice_closing.close_now(tenant=owner, by=STAFF, now=closed_at)
    drafted = invoice_closing.close(invoice=last, evidence=rows.evidence(), by=STAFF)
    issuing.issue(invoice=issuing.approve(invoice=drafted, by=STAFF), by=STAFF)

    with pytest.raises(NoSubscription, match="nothing to close"):
        invoice_closing.close_now(tenant=owner, by=STAFF, now=ended_at + timedelta(days=1))

    assert open_periods.is_settled(owner)  # so its members are removed


@pytest.mark.django_db
def test_close_now_refuses_a_tenant_that_never_had_a_plan() -> None:
    owner = rows.tenant()
    PlanSubscription.objects.all().delete()

    with pytest.raises(NoSubscription, match="nothing to close"):
        invoice_closing.close_now(tenant=owner, by=STAFF, now=STARTS_AT + timedelta(days=1))

    assert not Invoice.objects.exists()


@pytest.mark.django_db
def test_close_now_closes_a_period_in_which_a_plan_ended() -> None:
    owner = rows.tenant()
    PlanSubscription.objects.update(ends_at=STARTS_AT + timedelta(seconds=1))

    invoice, _ = invoice_closing.close_now(
        tenant=owner, by=STAFF, now=STARTS_AT + timedelta(days=1)
    )

    closed = invoice_closing.close(invoice=invoice, evidence=rows.evidence(), by=STAFF)
    assert closed.state == Invoice.State.DRAFT


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "months"), [(10, 1), (30, 1), (31, 2)])
def test_due_runs_end_with_the_last_plan(days: int, months: int) -> None:
    owner = rows.tenant()
    ends_at = STARTS_AT + timedelta(days=days, milliseconds=3)  # April has 30 days
    PlanSubscription.objects.filter(tenant=owner).update(ends_at=ends_at)

    for later in (0, 100):
        rows.requested(AFTER_GRACE + timedelta(days=60 + later))

    assert Invoice.objects.filter(tenant=owner).count() == months


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_close_bills_the_usage_that_the_validation_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    cells = rows.used(rows.cell(space, "messages_in", 5_000_000))
    asked = rows.asked(owner)
    real, outcome = Batch._draft, []

    def copy_meanwhile() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '300ms'")
                rows.used(rows.cell(space, "messages_in", 9_000_000))
            outcome.append("copied")
        except OperationalError:
            outcome.append("waited")
        finally:
            connection.close()

    def draft(*args: Any) -> Draft:
        copier = threading.Thread(target=copy_meanwhile)
        copier.start()
        copier.join()
        return real(*args)

    monkeypatch.setattr(Batch, "_draft", draft)
    invoice = invoice_closing.close(invoice=asked, evidence=rows.evidence(cells), by=STAFF)

    assert invoice.lines.get(meter="messages").detail["used_base"] == 5_000_000
    assert outcome == ["waited"]
