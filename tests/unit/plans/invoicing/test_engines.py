"""Invoices of every engine that was released are verified by this version of Waypost."""

import json
from pathlib import Path

import pytest

from plans.invoicing import document, engines, facts, invoice_verification
from plans.invoicing.document import Document
from plans.invoicing.findings import Place
from plans.models import Invoice
from tests.support.plans import billing_rows as rows
from tests.support.plans import golden_invoices

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", golden_invoices.paths(), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_each_golden_invoice_is_the_same_again(path: Path) -> None:
    golden = golden_invoices.load(path)

    found = [invoice_verification.verify(invoice=row, cells=cells) for row, cells in golden]

    assert [(row.findings, row.recomputed_sha256 == row.stored_sha256) for row in found] == [
        ((), True)
    ] * 3
    assert {f"engine-{row.manifest['engine_version']}" for row, _ in golden} == {path.parent.name}
    first, cells = golden[0]
    more = [cells[0]._replace(quantity=cells[0].quantity + 1_000_000), *cells[1:]]
    assert not invoice_verification.verify(invoice=first, cells=more).same


def test_each_engine_has_golden_invoices() -> None:
    folders = {path.parent.name for path in golden_invoices.paths()}

    assert {f"engine-{version}" for version in engines.BY_VERSION} == folders
    assert facts.ENGINE_VERSION in engines.BY_VERSION


def documents_of(engine: str) -> list[Document]:
    """Return the documents of all golden invoices of an engine."""
    return [
        document.loaded(row["fields"]["document"])
        for path in golden_invoices.paths()
        if path.parent.name == f"engine-{engine}"
        for row in json.loads(path.read_text())["rows"]
        if row["model"] == "plans.invoice"
    ]


@pytest.mark.parametrize("engine", ["4", "5"])
def test_the_golden_invoices_have_terms_taxes_credit_and_two_sellers(engine: str) -> None:
    documents = documents_of(engine)

    kinds = {line["kind"] for made in documents for line in made["lines"]}
    assert kinds >= {"discount", "commitment", "correction"}
    notes = {tax.get("category", "") for made in documents for tax in made["taxes"]}
    assert notes == {"", "S", "AE", "E"}
    assert {made["currency"] for made in documents} == {"EUR", "JPY", "KWD", "USD"}
    assert {made["manifest"]["legal_entity"] for made in documents} == {"wp", "wp-inc"}
    used = {use["kind"] for made in documents for use in made["credit"].get("grants", [])}
    assert used == {"promotional", "prepaid"}


def test_corrections_have_the_tax_of_their_month_since_engine_5() -> None:
    taxes = {
        engine: {
            tuple(tax["percent"] for tax in made["taxes"])
            for made in documents_of(engine)
            if made["corrections"]
        }
        for engine in ("4", "5")
    }

    assert all(len(percents) == 1 for percents in taxes["4"])
    # A certificate that ended, and a VAT id that was entered.
    assert taxes["5"] - taxes["4"] == {("19", "0"), ("0", "20")}


@pytest.mark.parametrize(
    "path",
    [path for path in golden_invoices.paths() if path.parent.name == "engine-4"],
    ids=lambda path: path.stem,
)
def test_without_another_tax_engine_5_writes_what_engine_4_wrote(path: Path) -> None:
    for invoice, cells in golden_invoices.load(path):
        stored = document.loaded(invoice.document)
        stored["manifest"]["engine_version"] = "5"

        _, again = invoice_verification.recomputed(invoice, stored, cells)

        assert document.canonical(again) == document.canonical(stored)


def test_an_engine_that_nobody_knows_is_named() -> None:
    invoice = rows.drafted(rows.tenant())
    made = {**document.loaded(invoice.document)}
    made["manifest"]["engine_version"] = "2"
    Invoice.objects.filter(pk=invoice.pk).update(document=document.canonical(made))
    invoice.refresh_from_db()

    found = invoice_verification.verify(invoice=invoice, cells=[])

    assert (found.code, found.findings[0].place) == ("invoice.engine_unknown", Place.DOCUMENT)
