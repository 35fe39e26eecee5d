"""A correction bears the tax of the month that it corrects, and one invoice may have several taxes.

The seller is in Germany. The buyer is a consumer in France, with 20 %, until it enters a VAT id:
from then on it has reverse charge. A message costs 1.00.
"""

import csv
import io
import json
from typing import Any

import pytest

from plans.catalog import parsing, publishing
from plans.einvoices import en16931
from plans.exports import charges
from plans.invoicing import (
    corrections,
    credit_note_rendering,
    credit_notes,
    document,
    explaining,
    invoice_verification,
    month_replay,
    rated_period,
    rendering,
)
from plans.invoicing.findings import Place
from plans.invoicing.invoice_verification import Verification
from plans.ledger import posting
from plans.models import Invoice
from plans.rating.periods import Period
from plans.rating.taxes import REVERSE_CHARGE
from tenants.models import Tenant
from tests.support.metering.tampering import sql
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT
from tests.unit.plans.invoicing.test_corrections import (
    JULY,
    JUNE,
    MIDDLE,
    closed,
    correction_lines,
    invoicing_cells,
    issued,
    used,
)

pytestmark = pytest.mark.django_db
FRANCE = {"percent": "20", "category": "S", "note": ""}


@pytest.fixture
def owner() -> Tenant:
    content = json.loads(rows.CATALOG)
    content["seller"]["tax_regime"] = "vat"
    publishing.publish(parsing.parse(json.dumps(content)), by=STAFF)
    owner = rows.tenant(to=publishing.plan("bulk"), billing_country="FR")
    rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return owner


def registered(owner: Tenant) -> None:
    """Enter the VAT id of the buyer, so that later invoices have reverse charge."""
    owner.tax_id = "FR40303265045"
    owner.save()


def both(owner: Tenant) -> tuple[Invoice, Invoice]:
    """Issue April with 20 %, and May with reverse charge, which corrects April by 5 messages."""
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    registered(owner)
    used(owner, d3=12, d40=9)
    return april, issued(owner, ENDS_AT, JUNE)


def made(invoice: Invoice) -> Any:
    return document.loaded(invoice.document)


def taxes(invoice: Invoice) -> list[tuple[str, str, int, int]]:
    return [
        (tax["percent"], tax["category"], tax["taxable_minor"], tax["tax_minor"])
        for tax in made(invoice)["taxes"]
    ]


def verified(owner: Tenant, invoice: Invoice) -> Verification:
    invoice.refresh_from_db()
    since = corrections.usage_since(invoice)
    cells = [cell for cell in invoicing_cells(owner) if cell.bucket_at >= since]
    return invoice_verification.verify(invoice=invoice, cells=cells)


def test_a_correction_bears_the_tax_of_its_month(owner: Tenant) -> None:
    april, may = both(owner)

    assert taxes(april) == [("20", "S", 700, 140)]
    assert taxes(may) == [("0", "AE", 900, 0), ("20", "S", 500, 100)]
    assert (may.net_minor, may.tax_minor, may.total_minor) == (1400, 100, 1500)
    lines = {line["kind"]: line["tax"] for line in made(may)["lines"]}
    assert lines == {"usage": 1, "correction": 2}
    assert made(may)["manifest"]["corrections"][0]["tax"] == FRANCE
    assert verified(owner, may).same
    assert posting.booked(posting.invoice_reference(may.pk))["tax"] == -100


def test_every_form_of_the_invoice_says_the_tax_of_a_line(owner: Tenant) -> None:
    _, may = both(owner)

    page = rendering.html(made(may))
    table = list(csv.DictReader(io.StringIO(rendering.csv(made(may)))))
    standard = en16931.of_invoice(made(may))
    charged = [row for row in charges.of_invoice(owner.pk, made(may)) if row.kind == charges.TAX]

    assert "Tax 20 %</div>" in page
    assert "Tax 0 %</div>" in page
    assert f'Tax 0 % on 9.00 EUR<div class="quiet">{REVERSE_CHARGE}' in page
    assert "Tax 20 % on 5.00 EUR" in page
    found = {(row["kind"], row["tax_percent"], row["tax_category"]) for row in table}
    assert found == {("usage", "0", "AE"), ("correction", "20", "S")}
    assert [(row.description, row.amount_minor) for row in charged] == [
        ("Tax 0 %", 0), ("Tax 20 %", 100),
    ]  # fmt: skip
    assert {(line.tax.category, line.tax.tax_minor) for line in standard.lines} == {
        ("AE", 0), ("S", 100)
    }  # fmt: skip


def test_a_correction_with_the_tax_of_the_invoice_names_none(owner: Tenant) -> None:
    used(owner, d3=7)
    issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12, d40=9)

    may = issued(owner, ENDS_AT, JUNE)

    assert taxes(may) == [("20", "S", 1400, 280)]
    assert not any("tax" in line for line in made(may)["lines"])
    assert "tax" not in made(may)["corrections"][0]
    assert "tax" not in made(may)["manifest"]["corrections"][0]
    assert "tax_percent" not in rendering.csv(made(may))
    assert "Tax 20 %</div>" not in rendering.html(made(may))


def test_a_correction_of_a_correction_has_the_tax_of_the_month_too(owner: Tenant) -> None:
    april, _ = both(owner)
    used(owner, d3=20, d40=9)

    june = issued(owner, JUNE, JULY)

    assert correction_lines(june) == [(april.number, 8, 800)]
    assert taxes(june) == [("0", "AE", 0, 0), ("20", "S", 800, 160)]
    assert verified(owner, june).same


def test_a_month_of_several_invoices_is_corrected_with_the_tax_of_the_last_one(
    owner: Tenant,
) -> None:
    used(owner, d3=7)
    first = issued(owner, STARTS_AT, MIDDLE)
    registered(owner)
    used(owner, d3=7, d20=3)
    second = issued(owner, MIDDLE, ENDS_AT)
    Tenant.objects.update(billing_country="DE", tax_id="")
    owner.refresh_from_db()
    used(owner, d3=9, d20=3)

    may = issued(owner, ENDS_AT, JUNE)

    assert [taxes(row)[0][:2] for row in (first, second)] == [("20", "S"), ("0", "AE")]
    assert correction_lines(may) == [(second.number, 2, 200)]
    assert taxes(may) == [("19", "S", 0, 0), ("0", "AE", 200, 0)]
    assert verified(owner, may).same


def test_an_earlier_part_of_the_month_is_corrected_with_the_tax_of_its_invoice(
    owner: Tenant,
) -> None:
    used(owner, d3=7)
    first = issued(owner, STARTS_AT, MIDDLE)
    registered(owner)
    used(owner, d3=9, d20=3)

    second = issued(owner, MIDDLE, ENDS_AT)

    assert correction_lines(second) == [(first.number, 2, 200)]
    assert taxes(second) == [("0", "AE", 300, 0), ("20", "S", 200, 40)]
    assert verified(owner, second).same


def test_a_draft_takes_the_tax_of_the_month_whatever_the_buyer_is_now(owner: Tenant) -> None:
    used(owner, d3=7)
    issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)
    before = closed(owner, ENDS_AT, JUNE)
    registered(owner)

    after = closed(owner, ENDS_AT, JUNE)

    assert [taxes(row) for row in (before, after)] == [
        [("20", "S", 500, 100)], [("0", "AE", 0, 0), ("20", "S", 500, 100)],
    ]  # fmt: skip


def test_the_tax_of_a_correction_is_compared_with_the_invoice_that_it_corrects(
    owner: Tenant,
) -> None:
    _, may = both(owner)
    # Document and manifest agree on the tax, so that all amounts follow from it.
    sql(
        "UPDATE plans_invoice SET document = replace(document, %s, %s), manifest = "
        "replace(manifest::text, %s, %s)::jsonb WHERE id = %s",
        '"percent":"20"}', '"percent":"21"}', '"percent": "20"', '"percent": "21"', may.pk,
    )  # fmt: skip

    found = verified(owner, may)

    text = "manifest.corrections: WP-000001 has another tax than its correction"
    assert [row.what for row in found.findings if row.place is Place.PREVIOUS] == [text]


def test_credit_notes_take_back_each_line_with_its_tax(owner: Tenant) -> None:
    _, may = both(owner)
    positions = {line["kind"]: line["position"] for line in made(may)["lines"]}
    number = "WP-CN-000001"

    one = credit_notes.issue(
        invoice=may, wanted={positions["correction"]: 103}, reason="r", by=STAFF, now=JULY
    )
    rest = credit_notes.void(invoice=may, reason="r", by=STAFF)

    first, last = (document.loaded(row.document) for row in (one, rest))
    assert (one.number, one.net_minor, one.tax_minor) == (number, 103, 21)
    assert [tax["percent"] for tax in first["taxes"]] == ["20"]
    assert "tax" not in first["lines"][0]
    assert [(tax["percent"], tax["taxable_minor"], tax["tax_minor"]) for tax in last["taxes"]] == [
        ("0", 900, 0), ("20", 397, 79),
    ]  # fmt: skip
    assert [line["tax"] for line in last["lines"]] == [1, 2]
    assert "Tax 20 %</div>" in credit_note_rendering.html(last)
    assert all(credit_notes.verify(row).same for row in (one, rest))
    assert one.total_minor + rest.total_minor == may.total_minor
    assert posting.booked(posting.credit_note_reference(rest.pk))["tax"] == 79


def test_the_change_between_two_invoices_names_each_tax(owner: Tenant) -> None:
    april, may = both(owner)

    found = explaining.explain(owner, str(april.number), may.pk)

    assert sum(row.part.amount_minor for row in found.parts) == found.difference_minor
    words = {row.part.cause.value: row.words for row in found.parts}
    assert words["tax"] == "0 % of 9.00 EUR and 20 % of 5.00 EUR now, 20 % of 7.00 EUR before."


def test_a_month_is_rated_again_as_it_was_taxed(owner: Tenant) -> None:
    """The back-test of prices compares what the month cost with tax."""
    used(owner, d3=7)
    first = issued(owner, STARTS_AT, MIDDLE)
    registered(owner)
    used(owner, d3=9, d20=3)
    second = issued(owner, MIDDLE, ENDS_AT)

    april = month_replay.of(owner, Period(STARTS_AT, ENDS_AT), [first, second])

    assert april is not None
    assert april.rate(rated_period.from_copy(owner.pk)).total_minor == (
        first.total_minor + second.total_minor
    )
