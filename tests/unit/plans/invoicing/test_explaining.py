"""The change between two invoices of a tenant, in words, whose parts add up to the cent."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from controlplane.core.errors import Conflict, Invalid, Missing
from plans.invoicing import explaining, invoice_closing, issuing
from plans.invoicing.changes import Cause
from plans.invoicing.explaining import Explanation
from plans.models import Invoice, PlanSubscription
from plans.rating.periods import Period, month_of
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

pytestmark = pytest.mark.django_db
MAY = month_of(ENDS_AT, "UTC")
MID_MAY = datetime(2026, 5, 16, tzinfo=UTC)


def issued(owner: Tenant, period: Period, cells: list[UsageCell]) -> Invoice:
    now = period.ends_at + timedelta(hours=72)
    row, _ = invoice_closing.request_close(
        tenant=owner, starts_at=period.starts_at, ends_at=period.ends_at, by=billing_rows.STAFF,
        now=now, now_forced=True,
    )  # fmt: skip
    invoice_closing.close(
        invoice=row, by=billing_rows.STAFF,
        evidence=billing_rows.evidence(
            cells, as_of=period.ends_at, earlier=billing_rows.earlier(row)),
    )  # fmt: skip
    row.refresh_from_db()
    assert row.state == Invoice.State.DRAFT, row.held_reasons
    return issuing.issue(
        invoice=issuing.approve(invoice=row, by=billing_rows.STAFF), by=billing_rows.STAFF, now=now
    )


def parts(found: Explanation) -> dict[tuple[Cause, str], int]:
    total = sum(row.part.amount_minor for row in found.parts)
    assert total == found.difference_minor
    return {(row.part.cause, row.part.meter): row.part.amount_minor for row in found.parts}


def test_more_messages_and_hours_are_quantity_and_tax() -> None:
    owner = billing_rows.tenant()
    space = billing_rows.space(owner, active_since=STARTS_AT)
    april = billing_rows.used(billing_rows.cell(space, "messages_in", 3_000_000))
    first = issued(owner, Period(STARTS_AT, ENDS_AT), april)
    may = billing_rows.used(billing_rows.cell(space, "messages_in", 5_000_000, at=ENDS_AT))
    second = issued(owner, MAY, may)

    found = explaining.explain(owner, str(first.number), second.pk)

    assert found.difference_minor == second.payable_minor - first.payable_minor
    tax = second.tax_minor - first.tax_minor
    assert parts(found) == {
        (Cause.QUANTITY, "messages"): 160,
        (Cause.QUANTITY, "space_hours"): 48,  # 24 hours more
        (Cause.TAX, ""): tax,
    }
    words = {row.title: row.words for row in found.parts}
    assert words["Messages"] == (
        "5,000,000 messages instead of 3,000,000 messages, at the former prices."
    )
    assert words["Spaces"] == "744 hours instead of 720 hours, at the former prices."


def test_another_plan_and_late_usage_are_parts_of_their_own() -> None:
    owner = billing_rows.tenant()
    PlanSubscription.objects.filter(tenant=owner).update(ends_at=ENDS_AT)
    PlanSubscription.objects.create(
        tenant=owner, plan=billing_rows.plan("business"), starts_at=ENDS_AT
    )
    space = billing_rows.space(owner, active_since=None)
    april = billing_rows.used(billing_rows.cell(space, "messages_in", 3_000_000))
    first = issued(owner, Period(STARTS_AT, ENDS_AT), april)
    late = billing_rows.cell(space, "messages_in", 4_000_000)
    may = billing_rows.cell(space, "messages_in", 3_000_000, at=ENDS_AT)
    billing_rows.used(late, may)
    second = issued(owner, MAY, [may])

    found = explaining.explain(owner, first.pk, second.pk)

    assert parts(found) == {
        (Cause.PLAN, "messages"): 80,  # nothing is included
        (Cause.PLAN, "plan_fee"): 4900,
        (Cause.CORRECTION, ""): 80,
        (Cause.TAX, ""): second.tax_minor - first.tax_minor,
    }
    assert {row.words for row in found.parts if row.part.cause is Cause.PLAN} == {
        "By the plan Business now, by Team before."
    }


def test_both_halves_of_a_divided_month_are_explained_and_a_change_of_plan_inside() -> None:
    owner = billing_rows.tenant()
    space = billing_rows.space(owner, active_since=STARTS_AT)
    april = billing_rows.used(billing_rows.cell(space, "messages_in", 3_000_000))
    invoices = [issued(owner, Period(STARTS_AT, ENDS_AT), april)]
    for period in (Period(MAY.starts_at, MID_MAY), Period(MID_MAY, MAY.ends_at)):
        cells = billing_rows.used(
            billing_rows.cell(space, "messages_in", 2_000_000, at=period.starts_at)
        )
        invoices.append(issued(owner, period, cells))

    for older, newer in pairwise(invoices):
        found = explaining.explain(owner, older.pk, newer.pk)

        assert found.difference_minor == newer.payable_minor - older.payable_minor
        assert Cause.PLAN not in {cause for cause, _ in parts(found)}
    back = explaining.explain(owner, invoices[1].pk, invoices[0].pk)
    assert sum(parts(back).values()) == invoices[0].payable_minor - invoices[1].payable_minor


def test_no_fee_counts_for_the_days_before_the_subscription() -> None:
    """Two early closes soon after a sign-up: both invoices bill some minutes of the fee."""
    began = datetime(2026, 5, 20, 9, tzinfo=UTC)
    first, second = began + timedelta(seconds=250), began + timedelta(seconds=550)
    owner = billing_rows.tenant(began)
    older = issued(owner, Period(MAY.starts_at, first), [])
    newer = issued(owner, Period(first, second), [])
    assert (older.payable_minor, newer.payable_minor) == (0, 1)

    found = explaining.explain(owner, older.pk, newer.pk)

    assert parts(found) == {(Cause.QUANTITY, "plan_fee"): 1}
    assert found.parts[0].words == (
        "0.0112 % of a month instead of 0.0093 % of a month, at the former prices."
    )


def test_an_invoice_is_named_by_its_month_and_the_running_period_as_preview() -> None:
    owner = billing_rows.tenant()
    first = issued(owner, Period(STARTS_AT, ENDS_AT), [])

    found = explaining.explain(owner, "2026-04", "preview", now=ENDS_AT + timedelta(days=1))

    assert (found.older.id, found.newer.id) == (first.pk, "")
    parts(found)


def test_names_of_nothing_are_refused() -> None:
    owner, other = billing_rows.tenant(), billing_rows.tenant()
    foreign = issued(other, Period(STARTS_AT, ENDS_AT), [])
    closing = billing_rows.asked(owner)

    with pytest.raises(Missing):
        explaining.explain(owner, foreign.pk, "preview")
    with pytest.raises(Missing):
        explaining.explain(owner, "2024-01", "preview")
    with pytest.raises(Invalid):
        explaining.explain(owner, "2024-13", "preview")
    with pytest.raises(Conflict, match="not closed yet"):
        explaining.explain(owner, closing.pk, closing.pk)


def test_a_month_of_several_invoices_is_no_name() -> None:
    owner = billing_rows.tenant()
    middle = datetime(2026, 4, 16, tzinfo=UTC)
    for period in (Period(STARTS_AT, middle), Period(middle, ENDS_AT)):
        issued(owner, period, [])

    with pytest.raises(Invalid, match="several invoices"):
        explaining.explain(owner, "2026-04", "preview")
