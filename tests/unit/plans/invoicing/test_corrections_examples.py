"""The worked examples of docs/billing-examples.md in which a month is corrected at another rate."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from plans.catalog import parsing, publishing
from plans.invoicing import credit_notes, document, invoice_closing, invoice_verification, issuing
from plans.models import Invoice
from plans.rating import money
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF
from tests.support.plans.worked_examples import Rows, shown, written

pytestmark = pytest.mark.django_db
MILLION = 10**6
JULY, AUGUST, SEPTEMBER = (datetime(2025, month, 1, tzinfo=UTC) for month in (7, 8, 9))


@pytest.fixture
def owner() -> Tenant:
    """A consumer in Romania on the plan Team of the page."""
    made = json.loads(rows.CATALOG)
    made["seller"]["tax_regime"] = "vat"
    team = made["plans"]["team"]
    team["included"]["messages"] = 5 * MILLION
    team["prices"]["messages"]["tiers"] = [["100", "0.90"], [None, "0.60"]]
    publishing.publish(parsing.parse(json.dumps(made)), by=STAFF)
    owner = rows.tenant(JULY, to=publishing.plan("team"), billing_country="RO")
    free = publishing.space_plan("free-of-charge")
    rows.space(owner, space_plan=free, active_since=JULY)
    return owner


def used(owner: Tenant, **millions: int) -> None:
    """Copy in the messages of months, in millions."""
    days = {"july": JULY, "august": AUGUST}
    rows.used(
        *(rows.cell(owner.spaces.get(), "messages_in", n * MILLION, at=days[name])
          for name, n in millions.items())
    )  # fmt: skip


def cells(owner: Tenant) -> list[UsageCell]:
    return list(reading.cells(owner.pk, JULY, SEPTEMBER))


def issued(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now_forced=True, now=SEPTEMBER
    )
    evidence = rows.evidence(
        [cell for cell in cells(owner) if starts_at <= cell.bucket_at < ends_at],
        as_of=ends_at,
        sampled_spaces=frozenset(owner.spaces.values_list("id", flat=True)),
        earlier=rows.earlier(invoice),
    )
    drafted = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    approved = issuing.approve(invoice=drafted, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=SEPTEMBER)


def august(owner: Tenant) -> Invoice:
    """Issue July, then August, which corrects July."""
    used(owner, july=60)
    july = issued(owner, JULY, AUGUST)
    assert (july.number, july.net_minor, july.tax_minor) == ("WP-000001", 9850, 1872)
    used(owner, july=62, august=61)
    return issued(owner, AUGUST, SEPTEMBER)


def table(made: Any) -> Rows:
    """Return the rows of an invoice or a credit note as the page writes them."""
    lines = [(line["description"], line["amount_minor"])
             for line in made["lines"] if line["amount_minor"]]  # fmt: skip
    taxes = [
        (f"Tax {tax['percent']} % on {money.to_major(tax['taxable_minor'], 'EUR')}",
         tax["tax_minor"])
        for tax in made["taxes"]
    ]  # fmt: skip
    sums = [("Net", made["net_minor"]), *taxes, ("Total", made["total_minor"])]
    return shown((label.replace(", in and out", ""), amount) for label, amount in [*lines, *sums])


def test_a_correction_has_the_rate_of_its_month_as_example_33_says(owner: Tenant) -> None:
    invoice = august(owner)

    assert table(document.loaded(invoice.document)) == written(33)
    assert invoice_verification.verify(invoice=invoice, cells=cells(owner)).same


def test_credit_notes_take_back_each_rate_as_examples_34_and_35_say(owner: Tenant) -> None:
    invoice = august(owner)
    lines = document.loaded(invoice.document)["lines"]

    part = credit_notes.issue(
        invoice=invoice,
        wanted=dict(positions_of(lines, {"fee": 2000, "correction": 100})),
        reason="an outage",
        by=STAFF,
    )
    rest = credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)

    assert [table(document.loaded(note.document)) for note in (part, rest)] == [
        written(34), written(35),
    ]  # fmt: skip
    assert part.total_minor + rest.total_minor == invoice.total_minor
    assert all(credit_notes.verify(note).same for note in (part, rest))


def positions_of(lines: Iterable[Any], wanted: dict[str, int]) -> Iterable[tuple[int, int]]:
    """Yield position and amount of the line of each kind that is wanted."""
    for line in lines:
        if line["kind"] in wanted:
            yield line["position"], wanted[line["kind"]]
