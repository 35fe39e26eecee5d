"""Charges by FOCUS 1.0 are valid by the foundation's validator, and add up to the invoices."""

import csv
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from plans.export_kinds import ExportKind, FileFormat
from plans.exports import focus as focus_rows
from plans.exports import registry, tables
from plans.invoicing import credit_notes
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage import meters
from tests.support.finance import focus
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
WINDOW = Period(STARTS_AT, ENDS_AT)
# The credit note is issued after the grace period, in May.
BOTH = Period(STARTS_AT, ENDS_AT.replace(month=6))


def billed(**fields: Any) -> Invoice:
    """Return an invoice of a tenant with usage in two spaces, of which a part is taken back."""
    owner = rows.tenant(**fields)
    spaces = [rows.space(owner, "shop", labels={"team": "web"}), rows.space(owner, "till")]
    cells = rows.used(
        *(rows.cell(space, meters.MESSAGES_IN, 1_500_000, address="orders") for space in spaces)
    )
    invoice = rows.issued(owner, cells)
    credit_notes.issue(
        invoice=invoice, wanted={1: 100}, reason="an outage", by=STAFF, now=AFTER_GRACE
    )
    return invoice


def moved(invoice: Invoice, starts_at: datetime, zone: str) -> Invoice:
    """Return an issued invoice of another tenant with the same lines, whose month begins then."""
    row = Invoice.objects.get(pk=invoice.pk)
    row.pk, row.number = f"{row.pk}{zone}"[-40:], f"WP-{zone}"
    row.tenant, row.time_zone = rows.tenant(), zone
    row.starts_at, row.ends_at = starts_at, starts_at + timedelta(days=30)
    row.save(force_insert=True)
    return row


def written(format: FileFormat, folder: Path, invoice: Invoice | None = None) -> Path:
    file = folder / f"focus.{format}"
    with registry.file(ExportKind.FOCUS, format, BOTH, invoice.tenant if invoice else None) as made:
        file.write_bytes(made.read())
    return file


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as source:
        return list(csv.DictReader(source))


def test_the_file_is_valid_by_focus_validator(tmp_path: Path) -> None:
    billed()

    is_valid, report = focus.report(written(FileFormat.CSV, tmp_path), tmp_path)

    assert is_valid, report


def test_the_validator_finds_what_is_wrong(tmp_path: Path) -> None:
    billed()
    file = written(FileFormat.CSV, tmp_path)
    file.write_text(file.read_text().replace(",EUR,", ",euro,"))

    is_valid, report = focus.report(file, tmp_path)

    assert not is_valid
    assert "BillingCurrency" in report


def test_charges_add_up_to_the_invoice_less_the_credit_note(tmp_path: Path) -> None:
    invoice = billed()
    note = invoice.credit_notes.get()

    found = read(written(FileFormat.CSV, tmp_path, invoice))

    by_document = {
        number: sum(Decimal(row["BilledCost"]) for row in found if row["x_InvoiceNumber"] == number)
        for number in (invoice.number, note.number)
    }
    assert by_document == {
        invoice.number: Decimal(invoice.total_minor) / 100,
        note.number: Decimal(-note.total_minor) / 100,
    }
    assert {row["SubAccountName"] for row in found} == {"", "shop", "till"}
    assert {row["Tags"] for row in found} == {"", "{}", '{"team": "web"}'}


def test_a_tenant_gets_its_own_rows_only_and_the_operator_all(tmp_path: Path) -> None:
    mine, other = billed(), billed()

    own = read(written(FileFormat.CSV, tmp_path, mine))
    everything = read(written(FileFormat.CSV, tmp_path))

    assert {row["BillingAccountId"] for row in own} == {mine.tenant_id}
    assert {row["BillingAccountId"] for row in everything} == {mine.tenant_id, other.tenant_id}


def test_a_month_of_all_tenants_has_that_month_of_each_time_zone() -> None:
    plain = billed()
    berlin = moved(plain, STARTS_AT - timedelta(hours=2), "Europe/Berlin")
    # This one's May begins in the UTC day in which that of the others does, four hours later.
    eastern = moved(plain, ENDS_AT + timedelta(hours=4), "America/New_York")

    def tenants(window: Period) -> set[str]:
        invoiced = [row for row in focus_rows.rows(window) if row["ChargeClass"] is None]
        return {row["BillingAccountId"] for row in invoiced}

    march = Period(STARTS_AT.replace(month=3), STARTS_AT)
    may = Period(ENDS_AT, ENDS_AT.replace(month=6))
    assert tenants(march) == set()
    assert tenants(WINDOW) == {plain.tenant_id, berlin.tenant_id}
    assert tenants(may) == {eastern.tenant_id}


def test_parquet_has_the_same_rows_and_the_same_bytes_again(tmp_path: Path) -> None:
    invoice = billed(name="=SUM(A1)", billing_name="=SUM(A1)")
    table = read(written(FileFormat.CSV, tmp_path, invoice))

    first = written(FileFormat.PARQUET, tmp_path, invoice).read_bytes()
    found = pq.read_table(written(FileFormat.PARQUET, tmp_path, invoice)).to_pylist()

    assert [str(row["BilledCost"].normalize()) for row in found] == [
        str(Decimal(row["BilledCost"]).normalize()) for row in table
    ]
    assert written(FileFormat.PARQUET, tmp_path, invoice).read_bytes() == first
    # A spreadsheet would run it; Parquet is no spreadsheet.
    assert {row["BillingAccountName"] for row in table} == {"'=SUM(A1)"}
    assert {row["BillingAccountName"] for row in found} == {"=SUM(A1)"}


def test_usage_of_a_tenant_is_exported_by_bucket(tmp_path: Path) -> None:
    mine, other = rows.tenant(), rows.tenant()
    shop, stranger = rows.space(mine, "shop"), rows.space(other, "stranger")
    later = STARTS_AT + timedelta(minutes=15)
    rows.used(
        rows.cell(stranger, meters.MESSAGES_IN, 7),
        rows.cell(shop, meters.MESSAGES_OUT, 2, at=later, address="orders"),
        rows.cell(shop, meters.MESSAGES_IN, 1, address="orders"),
        rows.cell(shop, meters.MESSAGES_IN, 9, at=ENDS_AT, address="orders"),
    )

    with registry.file(ExportKind.USAGE, FileFormat.PARQUET, WINDOW, mine) as file:
        found = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]

    assert found == [
        (shop.pk, "shop", "orders", "messages_in", STARTS_AT, 1),
        (shop.pk, "shop", "orders", "messages_out", later, 2),
    ]


def test_a_file_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 1)

    with pytest.raises(tables.TooManyRows):
        registry.file(ExportKind.USAGE, FileFormat.CSV, WINDOW, billed().tenant)
