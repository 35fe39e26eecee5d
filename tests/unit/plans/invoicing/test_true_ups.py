"""A line of an agreed minimum can be computed from what its document says."""

from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from plans.invoicing import (
    discounting,
    document,
    drill_down,
    invoice_closing,
    previewing,
    rendering,
    true_ups,
)
from plans.invoicing.discounting import Reduction
from plans.invoicing.document import Document
from plans.rating.periods import Period
from plans.usage import reading
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
MIDDLE = STARTS_AT + timedelta(days=15)


@pytest.fixture
def owner() -> Tenant:
    owner = rows.tenant()
    span = Period(STARTS_AT + timedelta(days=5), ENDS_AT)
    discounting.commit(tenant=owner, title="Deal", minimum_minor=60_000, span=span, by=STAFF)
    partner = Reduction("Partner", percent=Decimal(10))
    discounting.give(tenant=owner, reduction=partner, by=STAFF, now=STARTS_AT)
    return owner


def line_of(made: Document) -> Document:
    (line,) = [line for line in made["lines"] if line["kind"] == "commitment"]
    found: Document = line
    return found


def test_a_line_says_minimum_seconds_cost_and_what_earlier_invoices_charged(owner: Tenant) -> None:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=MIDDLE, by=STAFF, now_forced=True, now=MIDDLE
    )
    evidence = rows.evidence(reading.cells(owner.pk, STARTS_AT, MIDDLE), as_of=MIDDLE)
    invoice = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    made = document.loaded(invoice.document)

    first = true_ups.of_line(made, line_of(made))
    rest = previewing.preview(owner, MIDDLE + timedelta(days=1)).document
    second = true_ups.of_line(rest, line_of(rest))

    # 10 of 30 days of 600.00 are 200.00; half of the fee less 10 % is 22.05.
    assert first is not None
    assert first.words == (
        "600.00 EUR a month for 864,000 of the month's 2,592,000 seconds is 200.00 EUR. The month "
        "cost 22.05 EUR until then, after discounts and before tax, so 177.95 EUR is missing."
    )
    assert first.amount_minor == line_of(made)["amount_minor"] == 17_795
    # 25 days are 500.00; the fee less 10 % is 44.10.
    assert second is not None
    assert second.words == (
        "600.00 EUR a month for 2,160,000 of the month's 2,592,000 seconds is 500.00 EUR. The "
        "month cost 44.10 EUR until then, after discounts and before tax, so 455.90 EUR is "
        "missing. Earlier invoices of the month charged 177.95 EUR of it, so the line is 277.95 "
        "EUR."
    )
    assert second.amount_minor == line_of(rest)["amount_minor"] == 27_795
    with pytest.raises(drill_down.NoUsageBehind, match="864,000 of the month"):
        drill_down.usage_line(made, line_of(made)["position"])
    assert first.words in unescape(rendering.html(made))


def test_other_lines_have_no_true_up(owner: Tenant) -> None:
    made = previewing.preview(owner, MIDDLE).document

    assert {line["kind"] for line in made["lines"] if true_ups.of_line(made, line)} == {
        "commitment"
    }
