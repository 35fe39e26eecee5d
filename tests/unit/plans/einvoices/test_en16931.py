"""What EN 16931 demands and a document lacks is refused, with words that say what to do."""

from typing import Any

import pytest

from plans import invoice_formats
from plans.einvoices import en16931, ubl
from plans.einvoices.vat import NotStandard
from plans.invoice_formats import InvoiceFormat
from plans.rating.pricing import Line
from tests.support.finance import documents
from tests.support.finance.documents import BUYER, DISCOUNT, FEE, REPRICED, SELLER, issued


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"lines": [FEE], "buyer": {**BUYER, "country": " "}}, "the buyer's country"),
        ({"lines": [FEE], "seller": {**SELLER, "country": ""}}, "the seller's country"),
        ({"lines": [FEE], "seller": {**SELLER, "tax_id": ""}}, "the seller's tax id"),
        (
            {"lines": [FEE], "percent": "0", "category": "AE", "buyer": {**BUYER, "tax_id": ""}},
            "the buyer's VAT id",
        ),
        ({"lines": [FEE], "percent": "0", "category": ""}, "tax_regime: vat"),
        ({"lines": [FEE], "minor_digits": 3}, "more than two decimals"),
        ({"lines": []}, "demands a line"),
    ],
)
def test_what_is_missing_is_named(made: dict[str, Any], words: str) -> None:
    with pytest.raises(NotStandard, match=words):
        en16931.of_invoice(issued(**made))


def test_a_draft_is_no_electronic_invoice() -> None:
    with pytest.raises(NotStandard, match="issue the invoice first"):
        en16931.of_invoice({**issued([FEE]), "number": None})


def test_discounts_are_allowances_and_what_takes_them_back_charges() -> None:
    made = en16931.of_invoice(documents.invoices()["discounts and credit"])

    assert [line.name for line in made.lines] == ["Plan Team", "Messages", "Messages"]
    assert [(row.is_charge, row.amount_minor) for row in made.adjustments] == [
        (False, 490), (True, 120), (False, 200)
    ]  # fmt: skip


def breakdowns(name: str) -> list[tuple[str, str, int, int]]:
    return [
        (tax.category, str(tax.percent), tax.taxable_minor, tax.tax_minor)
        for tax in en16931.of_invoice(documents.invoices()[name]).taxes
    ]


def test_each_rate_has_a_breakdown_of_its_own() -> None:
    made = en16931.of_invoice(documents.invoices()["two rates"])

    # 5248 at 19 % are 997.12, and 183 at 5.5 % are 10.065.
    assert breakdowns("two rates") == [("S", "19", 5248, 997), ("S", "5.5", 183, 10)]
    assert (made.net_minor, made.tax_minor) == (5431, 1007)
    assert [str(line.tax.percent) for line in made.lines] == ["19", "19", "19", "5.5", "5.5"]
    assert [str(row.tax.percent) for row in made.adjustments] == ["19"]


def test_taxes_of_one_category_and_rate_share_a_breakdown_with_both_reasons() -> None:
    (tax,) = en16931.of_invoice(documents.invoices()["two certificates"]).taxes

    assert (tax.taxable_minor, tax.reason) == (5103, "Certificate 12; Certificate 9")


def test_a_tax_that_no_line_bears_has_no_breakdown_beside_others() -> None:
    assert breakdowns("a correction alone") == [("S", "5.5", 203, 11)]


def test_the_category_outside_stands_alone() -> None:
    made = issued([FEE, documents.LATE], percent="0", category="O", note="Supplied abroad")

    with pytest.raises(NotStandard, match="BR-O-11"):
        en16931.of_invoice(made)


def test_a_document_of_discounts_alone_has_them_as_lines_with_a_negative_quantity() -> None:
    made = en16931.of_invoice(issued([DISCOUNT]))

    assert made.adjustments == ()
    assert [(str(line.quantity), str(line.price)) for line in made.lines] == [("-1", "4.9")]


def test_a_negative_line_keeps_its_price() -> None:
    (line,) = en16931.of_invoice(issued([REPRICED])).lines

    assert (str(line.quantity), str(line.price), line.amount_minor) == ("-3", "0.5", -150)


def test_days_are_those_of_the_billing_time_zone() -> None:
    made = en16931.of_invoice(issued([FEE]))

    assert (made.starts_on.isoformat(), made.ends_on.isoformat()) == ("2026-04-01", "2026-04-30")


def test_only_an_id_with_the_prefix_of_its_country_is_a_vat_id() -> None:
    greek = {**BUYER, "country": "GR", "tax_id": "EL 094259216"}
    american = {**BUYER, "country": "US", "tax_id": "12-3456789"}

    buyers = [en16931.of_invoice(issued([FEE], buyer=row)).buyer for row in (greek, american)]

    assert [(row.vat_id, row.other_id) for row in buyers] == [
        ("EL094259216", ""), ("", "123456789")
    ]  # fmt: skip


def test_texts_of_tenants_cannot_break_the_xml() -> None:
    evil = {**BUYER, "name": "</cbc:Name>\x00\x1b & <b>"}

    written = ubl.write(en16931.of_invoice(issued([FEE], buyer=evil))).decode()

    assert "&lt;/cbc:Name&gt; &amp; &lt;b&gt;" in written


def test_equal_documents_give_equal_bytes() -> None:
    lines: list[Line] = [FEE, REPRICED]

    assert ubl.write(en16931.of_invoice(issued(lines))) == ubl.write(
        en16931.of_invoice(issued(lines))
    )


def test_the_longest_suffix_names_the_format() -> None:
    found = [invoice_formats.format_of(name) for name in ("A.FACTURX.PDF", "a.b.pdf", "a.xml")]

    assert found == [InvoiceFormat.FACTUR_X, InvoiceFormat.PDF, None]
