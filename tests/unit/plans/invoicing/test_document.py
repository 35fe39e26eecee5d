"""Previews, verification to the same bytes, and the forms of a document."""

import csv
import io
import json
import sys
from datetime import timedelta
from decimal import Decimal

import pypdf
import pytest

from controlplane.core.errors import Unavailable
from plans.catalog import parsing, publishing
from plans.invoicing import (
    credit_notes,
    document,
    granting,
    invoice_verification,
    issuing,
    pdf,
    pinned_sellers,
    previewing,
    rendering,
)
from plans.invoicing.evidence import CrashGap, SampleSet
from plans.invoicing.findings import LakeReading
from plans.invoicing.granting import Wish
from plans.models import Invoice
from plans.usage import meters
from plans.usage.reading import UsageCell
from tenants.models import AddressSpace, Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db


def hashed(sample_hash: str) -> LakeReading:
    return LakeReading(samples=SampleSet(1, sample_hash, 12))


@pytest.fixture
def billed() -> tuple[Invoice, list[UsageCell]]:
    """An issued invoice over usage in two spaces, one of them with markup for a name."""
    owner = rows.tenant(billing_name="Müller & <b>Söhne</b>")
    shop, lab = rows.space(owner), rows.space(owner, name="lab")
    cells = rows.used(
        rows.cell(shop, "messages_in", 3_000_001, address="orders"),
        rows.cell(lab, "messages_out", 4_500_000, address="rpc", at=STARTS_AT + timedelta(days=9)),
        rows.cell(shop, "peak_connections", 12),
        rows.cell(shop, "connection_ms", 5_400_000),
    )
    return rows.issued(owner, cells), cells


def test_verify_gives_the_same_bytes_from_any_order(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    invoice, cells = billed

    found = invoice_verification.verify(
        invoice=invoice, cells=reversed(cells), lake=hashed("ab" * 32)
    )

    assert (found.same, found.differences) == (True, ())
    assert found.stored_sha256 == found.recomputed_sha256 == document.digest(invoice.document)


def test_verify_still_holds_when_names_and_plans_change_later(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    invoice, cells = billed
    Tenant.objects.update(billing_name="Other", billing_time_zone="Asia/Tokyo", name="Renamed")
    AddressSpace.objects.update(deletion_requested_at=ENDS_AT, deleted_at=ENDS_AT)
    changed = rows.CATALOG.replace("4900", "9999").replace("GmbH", "AG")
    publishing.publish(parsing.parse(changed), by=STAFF)
    invoice.refresh_from_db()

    assert invoice_verification.verify(invoice=invoice, cells=cells).differences == ()


def test_verify_still_holds_when_a_meter_is_added_later(
    billed: tuple[Invoice, list[UsageCell]], monkeypatch: pytest.MonkeyPatch
) -> None:
    invoice, cells = billed
    new = "messages_expired"
    monkeypatch.setattr("plans.usage.reading.METERS", (*meters.METERS, new))
    kinds = {**meters.BY_SLUG, new: meters.BY_SLUG["messages_in"]}
    monkeypatch.setattr("plans.usage.reading.BY_SLUG", kinds)
    used = UsageCell(invoice.tenant_id, cells[0].space_id, "orders", new, STARTS_AT, 1)

    found = invoice_verification.verify(invoice=invoice, cells=cells)
    with_usage = invoice_verification.verify(invoice=invoice, cells=[*cells, used])

    assert found.differences == ()
    assert any("messages_expired: None, now 1" in line for line in with_usage.differences)


def test_verify_names_each_difference(billed: tuple[Invoice, list[UsageCell]]) -> None:
    invoice, cells = billed

    found = invoice_verification.verify(invoice=invoice, cells=cells[1:], lake=hashed("cd" * 32))

    assert not found.same
    assert found.stored_sha256 != found.recomputed_sha256
    text = "\n".join(found.differences)
    assert "lines.2.amount_minor: 520, now 280" in text
    assert "manifest.sample_hash: the samples of the period are not the same" in text


def test_verify_notices_text_that_is_not_canonical(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    invoice, cells = billed
    invoice.document = json.dumps(json.loads(invoice.document), indent=1)

    found = invoice_verification.verify(invoice=invoice, cells=cells)

    assert found.differences == (
        "its SHA-256 is not the one that the invoice's history recorded",
        "the stored text is not the canonical form of its content",
    )


def test_verify_needs_a_document() -> None:
    with pytest.raises(invoice_verification.NothingToVerify):
        invoice_verification.verify(invoice=rows.asked(rows.tenant()), cells=[])


def test_a_draft_can_be_verified_too() -> None:
    assert invoice_verification.verify(invoice=rows.drafted(rows.tenant()), cells=[]).same


def test_preview_shows_the_month_so_far_and_writes_nothing() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    rows.used(rows.cell(space, "messages_in", 2_000_000))

    found = previewing.preview(owner, STARTS_AT + timedelta(hours=100))

    lines = {line["meter"]: line["amount_minor"] for line in found.document["lines"]}
    assert lines == {"plan_fee": 4900, "messages": 80, "space_hours": 200}
    assert found.total_minor == round(5180 * 1.19)
    assert found.as_of == ENDS_AT
    assert not Invoice.objects.exists()


def test_preview_has_the_credit_that_its_invoice_uses() -> None:
    owner = rows.tenant()
    earlier = rows.issued(owner)
    issuing.record_payment(
        invoice=earlier, amount_minor=earlier.payable_minor, source="manual", reference="bank-1",
        received_on=AFTER_GRACE.date(), by=STAFF,
    )  # fmt: skip
    credit_notes.void(invoice=earlier, reason="an outage", by=STAFF, now=AFTER_GRACE)
    period = previewing.preview(owner, AFTER_GRACE).period
    for amount, expires_at in (
        (5000, None),
        (300, period.ends_at + timedelta(seconds=1)),
        (70, period.ends_at),  # not at the end of the period any more
    ):
        wish = Wish("prepaid", amount, f"bank-{amount}", "paid", expires_at)
        granting.grant(tenant=owner, wish=wish, by=STAFF, now=AFTER_GRACE)

    assert previewing.preview(owner, AFTER_GRACE).credit_minor == 5831 + 5000 + 300


def test_preview_in_the_first_second_has_no_hours_yet() -> None:
    owner = rows.tenant()
    rows.space(owner)

    found = previewing.preview(owner, STARTS_AT)

    assert [line["meter"] for line in found.document["lines"]] == ["plan_fee", "messages"]
    assert "No usage has been copied yet" in rendering.html(found.document)


def test_the_page_shows_parties_lines_tax_quality_and_manifest(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    page = rendering.html(document.loaded(billed[0].document))

    for words in (
        "Invoice WP-000001",
        "Waypost Test GmbH",
        "DE123456789",
        "High Street 5",
        "Müller &amp; &lt;b&gt;Söhne&lt;/b&gt;",
        "Plan Team",
        "7.500001 used, 1 included",
        "49.00 EUR",
        "Tax 19 % on",
        "Complete: every sample",
        "Usage as of 1 May 2026",
        "bronze.samples version 7",
        "half to even",
        "Issued on 4 May 2026, payable by 18 May 2026",
        "1.5 connection-hours",
        "waypost invoices verify WP-000001",
    ):
        assert words in page
    assert "<b>Söhne" not in page
    assert "http" not in page  # nothing is loaded from anywhere


@pytest.mark.parametrize(
    ("price", "currency", "shown"),
    [
        ("0.8", "EUR", "0.80"),
        ("49", "EUR", "49.00"),
        ("0.000012", "EUR", "0.000012"),
        ("1200", "JPY", "1,200"),
        ("100", "EUR", "100.00"),
    ],
)
def test_a_price_shows_all_its_places(price: str, currency: str, shown: str) -> None:
    assert rendering._Amounts(currency).price(Decimal(price)) == shown


def test_the_page_flags_a_crash_in_words() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    gap = CrashGap(f"{space.id}/router-0", "b1", STARTS_AT, None)
    invoice = rows.drafted(owner, sampled_spaces=frozenset({space.id}), crash_gaps=(gap,))

    page = rendering.html(document.loaded(invoice.document))

    assert "Flagged: part of the usage could not be measured" in page
    assert "router-0 of shop stopped without warning" in page
    assert "Draft invoice" in page
    assert "not to be paid" in page
    assert "Nothing" in page  # what the space used


@pytest.mark.slow
def test_the_pdf_says_what_the_page_says(billed: tuple[Invoice, list[UsageCell]]) -> None:
    made = rendering.pdf(document.loaded(billed[0].document))

    text = "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages)
    for words in ("Invoice WP-000001", "Waypost Test GmbH", "Müller & <b>Söhne</b>", "Total"):
        assert words in text


@pytest.mark.slow
def test_the_totals_of_a_long_pdf_follow_its_last_line(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    found = document.loaded(billed[0].document)
    found["lines"] = [{**line, "position": n} for n, line in enumerate(found["lines"] * 15, 1)]

    pages = pypdf.PdfReader(io.BytesIO(rendering.pdf(found))).pages

    lines = [page.extract_text().splitlines() for page in pages]
    assert len(pages) > 2
    assert sum(line.startswith("Net ") or line == "Net" for page in lines for line in page) == 1


def test_without_its_libraries_the_pdf_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(Unavailable, match="libpango"):
        rendering.pdf(previewing.preview(rows.tenant(), AFTER_GRACE).document)


def test_the_pdf_loads_nothing() -> None:
    with pytest.raises(ValueError, match="must not load anything"):
        pdf.refuse("file:///etc/passwd")


def test_csv_has_a_row_per_line_that_sums_to_the_net(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    invoice = billed[0]

    found = list(csv.DictReader(io.StringIO(rendering.csv(document.loaded(invoice.document)))))

    assert sum(int(row["amount_minor"]) for row in found) == invoice.net_minor
    assert found[0]["invoice"] == "WP-000001"
    assert (found[0]["amount"], found[0]["currency"]) == ("49.00", "EUR")


def test_csv_holds_no_formula_and_keeps_its_numbers(
    billed: tuple[Invoice, list[UsageCell]],
) -> None:
    made = document.loaded(billed[0].document)
    made["lines"] = [{**line, "description": "=1+1", "amount_minor": -5} for line in made["lines"]]

    found = list(csv.DictReader(io.StringIO(rendering.csv(made))))

    assert {row["description"] for row in found} == {"'=1+1"}
    assert {(row["amount_minor"], row["amount"]) for row in found} == {("-5", "-0.05")}


def test_json_is_the_stored_text(billed: tuple[Invoice, list[UsageCell]]) -> None:
    text = billed[0].document

    assert rendering.json(document.loaded(text)) == text


def test_hours_of_a_plan_without_a_price_make_no_line() -> None:
    owner = rows.tenant()
    rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))

    found = previewing.preview(owner, AFTER_GRACE - timedelta(days=10))

    assert "space_hours" not in {line["meter"] for line in found.document["lines"]}


def test_without_a_catalog_the_seller_is_unknown_and_says_what_to_do() -> None:
    with pytest.raises(Unavailable, match="waypost catalog publish"):
        pinned_sellers.seller_of(Tenant(id="ten_x"))
