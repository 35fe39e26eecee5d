"""A line that is rounded with earlier ones of its month says how, so that it can be recomputed."""

from datetime import timedelta

import pytest

from plans.invoicing import document, invoice_closing, previewing, rendering, running_totals
from plans.invoicing.document import Document
from tenants.models import AddressSpace, Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
FIRST, SECOND = STARTS_AT + timedelta(seconds=202), STARTS_AT + timedelta(seconds=5000)


@pytest.fixture
def owner() -> Tenant:
    """Return a tenant with a space of 0.02 EUR an hour since the beginning of the month."""
    owner = rows.tenant()
    rows.space(owner)
    return owner


def closed(owner: Tenant) -> Document:
    """Close the first 202 seconds of the month, whose hours cost 0.0011 EUR."""
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=FIRST, by=STAFF, now_forced=True, now=FIRST
    )
    space = AddressSpace.objects.get(tenant=owner)
    evidence = rows.evidence(as_of=FIRST, sampled_spaces=frozenset({space.id}))
    made = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    return document.loaded(made.document)


def line_of(made: Document, kind: str) -> Document:
    found: Document = next(line for line in made["lines"] if line["kind"] == kind)
    return found


def test_a_second_invoice_says_the_running_totals_before_and_after_a_line(owner: Tenant) -> None:
    closed(owner)

    made = previewing.preview(owner, SECOND).document

    # 4,798 s alone cost 0.0267, so 0.03; the running totals are 0.0011 and 0.0278.
    hours = line_of(made, "lifetime")
    words = running_totals.words(made)
    assert hours["amount_minor"] == 3
    assert hours["position"] not in words
    # The fee of 202 s is 0.0038, so 0.00. That of the rest of the month is 48.9962, so 49.00.
    fee = line_of(made, "fee")
    assert (fee["amount_minor"], fee["position"] in words) == (4900, False)


def test_a_line_that_its_own_quantity_does_not_explain_has_the_words(owner: Tenant) -> None:
    closed(owner)
    made = previewing.preview(owner, FIRST + timedelta(seconds=720)).document

    hours = line_of(made, "lifetime")
    words = running_totals.words(made)

    # 720 s alone cost 0.0040, so 0.00. With the 0.0011 of before it is 0.0051, so 0.01.
    assert hours["amount_minor"] == 1
    assert words[hours["position"]] == (
        "Charges at this price are added up over the month and rounded together. Before this "
        "line they were 0.001122 EUR, rounded 0.00 EUR, and with it they are 0.005122 EUR, "
        "rounded 0.01 EUR."
    )
    assert words[hours["position"]] in rendering.html(made)


def test_a_first_invoice_of_a_month_needs_no_such_words(owner: Tenant) -> None:
    made = closed(owner)

    assert running_totals.words(made) == {}


def test_a_document_without_the_state_of_the_month_has_no_such_words(owner: Tenant) -> None:
    """Documents of the first engines have none."""
    closed(owner)
    made = previewing.preview(owner, FIRST + timedelta(seconds=720)).document
    del made["month_so_far"]

    assert running_totals.words(made) == {}


@pytest.mark.parametrize("kind", ["repriced", "correction"])
def test_where_earlier_usage_is_charged_again_at_the_price_nothing_is_said(
    owner: Tenant, kind: str
) -> None:
    closed(owner)
    made = previewing.preview(owner, FIRST + timedelta(seconds=720)).document
    again = {**line_of(made, "lifetime"), "kind": kind, "position": 99}
    again["detail"] = {"billed_base": 10, "base_per_unit": 3600}

    assert running_totals.words(made) != {}
    assert running_totals.words({**made, "lines": [*made["lines"], again]}) == {}
