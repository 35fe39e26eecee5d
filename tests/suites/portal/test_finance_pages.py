"""The operators' page of finance, and files of exports on the pages of a tenant."""

import csv
import io
from typing import Any

import pytest

from plans.invoicing import credit_note_rendering, document, rendering
from plans.models import AccountCode
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


def text(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_staff_see_deferred_revenue_and_download_it(world: World, as_: As) -> None:
    invoice, staff = rows.issued(world.tenant), as_(world.staff)

    page = staff.get("/staff/finance/").content.decode()
    found = list(
        csv.DictReader(io.StringIO(text(staff.get("/staff/finance/deferred-revenue.csv"))))
    )
    wrong = staff.get("/staff/finance/", {"first": "May"})

    assert f"{invoice.net_minor / 100:.2f} EUR" in page
    assert sum(float(row["billed"]) for row in found) == invoice.net_minor / 100
    assert wrong.status_code == 422
    assert "write 2026-11" in wrong.content.decode()


def test_staff_set_the_code_of_an_account_and_the_journal_has_it(world: World, as_: As) -> None:
    invoice, staff = rows.issued(world.tenant), as_(world.staff)
    code = {"legal_entity": "waypost", "account": "revenue", "code": "4400"}

    staff.post("/staff/finance/codes", code)
    found = list(csv.DictReader(io.StringIO(text(staff.get("/staff/finance/journal.csv")))))
    last = max(int(row["posting_id"]) for row in found)
    rest = text(staff.get("/staff/finance/journal.csv", {"after": last}))

    assert AccountCode.objects.get().code == "4400"
    assert "4400" in staff.get("/staff/finance/").content.decode()
    assert {row["account_code"] for row in found if row["account"] == "revenue:plan_fee"} == {
        "4400"
    }
    assert {row["document_number"] for row in found} == {invoice.number}
    assert len(rest.splitlines()) == 1
    assert staff.post("/staff/finance/codes", {**code, "account": "x"}).status_code == 400
    assert staff.get("/staff/finance/balance.csv").status_code == 404


def test_members_download_what_they_may_see(world: World, as_: As) -> None:
    invoice = rows.issued(world.tenant)
    path = f"/t/{world.tenant.slug}"
    window = f"?window={invoice.starts_at:%Y-%m}"
    viewer, billing = as_(world.member), as_(world.billing)

    charges = text(billing.get(f"{path}/exports/focus.csv{window}"))

    assert str(invoice.number) in charges
    assert text(viewer.get(f"{path}/exports/usage.csv{window}")).startswith("space_id,")
    assert viewer.get(f"{path}/exports/focus.csv{window}").status_code == 404
    assert as_(world.outsider).get(f"{path}/exports/usage.csv").status_code == 404
    assert billing.get(f"{path}/exports/usage.xls").status_code == 404
    assert "exports/focus.parquet" in billing.get(f"{path}/usage/").content.decode()
    assert "exports/focus" not in viewer.get(f"{path}/usage/").content.decode()


def test_an_issued_invoice_and_its_credit_note_are_downloaded_as_factur_x(
    world: World, as_: As
) -> None:
    invoice = rows.issued(world.tenant)
    as_(world.staff).post(f"/staff/invoices/{invoice.pk}/void", {"reason": "never ordered"})
    note, owner = invoice.credit_notes.get(), as_(world.owner)
    path = f"/t/{world.tenant.slug}"

    page = owner.get(f"{path}/invoices/{invoice.pk}/").content.decode()
    files = [
        owner.get(f"{path}/invoices/{invoice.pk}/file.facturx.pdf"),
        owner.get(f"{path}/credit-notes/{note.number}.facturx.pdf"),
    ]

    assert "Factur-X / ZUGFeRD" in page
    assert files[0].content == rendering.factur_x(document.loaded(invoice.document))
    assert files[1].content == credit_note_rendering.factur_x(document.loaded(note.document))
