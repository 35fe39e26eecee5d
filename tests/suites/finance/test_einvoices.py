"""Electronic invoices are valid by the official rules: schema, schematron, PDF/A-3, Factur-X."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from plans.einvoices import cii, en16931, ubl
from plans.einvoices.en16931 import CREDIT_NOTE, EInvoice
from plans.invoicing import document, rendering
from tests.support.finance import documents, einvoices


def kind_of(invoice: EInvoice) -> str:
    return "CreditNote" if invoice.type_code == CREDIT_NOTE else "Invoice"


def all_cases() -> Iterator[tuple[str, EInvoice]]:
    for name, made in documents.invoices().items():
        yield name, en16931.of_invoice(made)
    for name, made in documents.credit_notes().items():
        yield f"credit note: {name}", en16931.of_credit_note(made)


CASES = dict(all_cases())


@pytest.mark.parametrize("name", CASES)
def test_ubl_is_valid_by_its_schema(name: str) -> None:
    invoice = CASES[name]

    assert einvoices.schema_errors(ubl.write(invoice), kind_of(invoice)) == []


def test_every_document_is_valid_by_the_schematron_of_en_16931(tmp_path: Path) -> None:
    # One Java process for each syntax, because its start takes longer than all documents.
    for syntax, write in (("ubl", ubl.write), ("cii", cii.write)):
        files = {name: write(invoice) for name, invoice in CASES.items()}

        assert einvoices.violations(files, syntax, tmp_path / syntax) == {
            name: [] for name in CASES
        }


def test_the_schematron_finds_what_is_wrong(tmp_path: Path) -> None:
    right = ubl.write(CASES["standard rate"])
    wrong = {
        "no country": right.replace(b"<cbc:IdentificationCode>DE<", b"<cbc:IdentificationCode><"),
        "another sum": right.replace(b">49.00</cbc:TaxExclusive", b">48.00</cbc:TaxExclusive"),
        "a line of another tax": ubl.write(CASES["two rates"]).replace(
            b"<cbc:Percent>5.5</cbc:Percent>", b"<cbc:Percent>19</cbc:Percent>", 2
        ),
    }

    found = einvoices.violations(wrong, "ubl", tmp_path)

    assert all(right != xml for xml in wrong.values())
    assert any("BR-09" in text for text in found["no country"])
    assert any("BR-CO-13" in text for text in found["another sum"])
    assert any("BR-S-08" in text for text in found["a line of another tax"])


@pytest.mark.parametrize("name", ["discounts and credit", "two rates"])
def test_factur_x_is_pdf_a_3_with_valid_xml_and_the_same_bytes_again(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "invoice.pdf"
    made = documents.invoices()[name]
    file.write_bytes(rendering.factur_x(made))

    report = einvoices.mustang_report(file, tmp_path)

    assert report.count('<summary status="valid"/>') == 3, report
    assert "flavour=3b" in report
    assert "isCompliant=true" in report
    assert rendering.factur_x(document.loaded(document.canonical(made))) == file.read_bytes()


def test_the_amounts_are_those_of_the_document() -> None:
    for name, made in documents.invoices().items():
        invoice = CASES[name]
        allowed, charged = (invoice.adjusted_minor(is_charge=is_) for is_ in (False, True))

        assert invoice.lines_minor - allowed + charged == made["net_minor"], name
        assert invoice.total_minor == made["total_minor"]
        assert invoice.total_minor - invoice.paid_minor == made["payable_minor"]
        assert all(line.price >= Decimal(0) for line in invoice.lines)
