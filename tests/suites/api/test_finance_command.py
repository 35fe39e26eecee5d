"""`waypost exports`, `staff finance` and electronic invoices against the API in this process."""

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from plans.invoicing import issuing
from plans.models import Invoice, PlanSubscription
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


@pytest.fixture
def invoice(draft: Invoice) -> Invoice:
    return issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF)


def test_files_for_other_programs(
    run: Callable[..., Ended], invoice: Invoice, tmp_path: Path
) -> None:
    month = ("--from", f"{invoice.starts_at:%Y-%m-%dT%H:%M:%SZ}")
    charges, usage, bill = (tmp_path / name for name in ("c.csv", "u.parquet", "b.ubl.xml"))

    assert run("exports", "get", "focus", "--to", str(charges), *month).code == 0
    assert run("exports", "get", "usage", "--to", str(usage), *month).code == 0
    assert run("invoices", "download", str(invoice.number), "--to", str(bill)).code == 0
    refused = run("exports", "get", "focus", "--to", str(tmp_path / "c.xls"))

    assert str(invoice.number) in charges.read_text()
    assert pq.read_table(usage).num_rows > 0
    assert f">{invoice.number}</cbc:ID>" in bill.read_text()
    assert (refused.code, refused.error) == (1, "export.format")
    assert "focus" in run("exports", "list").stdout


def test_reports_for_accounting(
    run: Callable[..., Ended], invoice: Invoice, tmp_path: Path
) -> None:
    journal, charges = tmp_path / "journal.csv", tmp_path / "all.csv"
    codes = ("staff", "finance", "codes", "waypost")

    assert "4400" in run(*codes, "--set", "revenue=4400", by="staff").stdout
    assert "4400" in run(*codes, by="staff").stdout
    assert run("staff", "finance", "journal", "--to", str(journal), by="staff").code == 0
    assert run("staff", "finance", "focus", "--to", str(charges), by="staff").code == 0
    report = run("staff", "finance", "deferred-revenue", by="staff")

    with journal.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["account_code"] for row in rows if row["account"].startswith("revenue")} == {"4400"}
    assert "waypost" in report.stdout
    assert "differs" not in report.stdout


def test_aged_receivables(run: Callable[..., Ended], invoice: Invoice, tmp_path: Path) -> None:
    aged, file = ("staff", "finance", "aged-receivables"), tmp_path / "aged.csv"
    amount = f"{invoice.payable_minor / 100:.2f} EUR"

    table = run(*aged, by="staff")
    items = run(*aged, "--tenant", "acme", by="staff")
    document = run(*aged, "-o", "json", by="staff")
    nothing = run(*aged, "--as-of", "2020-01-31", by="staff")
    no_items = run(*aged, "--as-of", "2020-01-31", "--tenant", "acme", by="staff")
    assert run(*aged, "--to", str(file), by="staff").code == 0
    both = run(*aged, "--to", str(file), "--tenant", "acme", by="staff")

    # In the columns of not due and total: of the tenant, and of all tenants.
    assert table.stdout.count(amount) == 4
    assert "(all)" in table.stdout
    assert str(invoice.number) in items.stdout
    assert json.loads(document.stdout)["sums"][0]["total_minor"] == invoice.payable_minor
    assert "Nothing is due." in nothing.stdout
    assert str(invoice.number) not in no_items.stdout
    with file.open(newline="") as written:
        (row,) = csv.DictReader(written)
    assert row["total"] == f"{invoice.payable_minor / 100:.2f}"
    assert both.code == 2
    assert run(*aged, "--as-of", "soon", by="staff").error == "report.day"


def test_periods_without_an_invoice(run: Callable[..., Ended], cast: Cast, tmp_path: Path) -> None:
    missing, file = ("staff", "finance", "periods-without-invoice"), tmp_path / "p.csv"
    complete = run(*missing, by="staff")
    PlanSubscription.objects.filter(tenant=cast.tenant).update(
        starts_at=timezone.now() - timedelta(days=62)
    )

    table = run(*missing, by="staff")
    document = run(*missing, "-o", "json", by="staff")
    assert run(*missing, "--to", str(file), by="staff").code == 0

    assert complete.stdout.endswith("0 invoices issued, complete\n")
    assert table.stdout.endswith("0 invoices issued, 1 period without an issued invoice\n")
    assert [row["tenant"] for row in json.loads(document.stdout)["items"]] == ["acme"]
    assert len(file.read_text().splitlines()) == 2


def test_what_an_accounting_system_must_not_get(cast: Cast, invoice: Invoice) -> None:
    owner: APIClient = cast.call("owner")

    assert owner.get("/api/v1/staff/journal").status_code == 404
    assert owner.get("/api/v1/staff/exports/focus.csv").status_code == 404
    assert cast.call("outsider").get(cast.path("/exports/focus.csv")).status_code == 404


def test_a_draft_is_no_electronic_invoice(cast: Cast, draft: Invoice) -> None:
    answer = cast.call("owner").get(cast.path(f"/invoices/{draft.pk}.ubl.xml"))

    assert (answer.status_code, answer.json()["code"]) == (409, "invoice.not_en16931")
    assert "issue the invoice first" in answer.json()["detail"]
