"""The operators' pages of aged receivables and of periods without an invoice."""

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.console.views import finance_reports
from plans.invoicing import issuing
from plans.models import Invoice
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
AGED = "/staff/finance/receivables/"
PERIODS = "/staff/finance/periods/"


def lines(answer: object) -> list[dict[str, str]]:
    """Return the rows of a downloaded CSV file."""
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def overdue(world: World) -> Invoice:
    """Return last month's invoice, issued 24 days ago and due since 10 days."""
    invoice = issuing.approve(invoice=rows.drafted(world.tenant), by=rows.STAFF)
    at = timezone.now() - timedelta(days=24)
    return issuing.issue(invoice=invoice, by=rows.STAFF, now=at)


def test_staff_see_what_tenants_owe_by_age_and_each_unpaid_invoice(world: World, as_: As) -> None:
    invoice, staff = overdue(world), as_(world.staff)
    amount = f"{invoice.payable_minor / 100:.2f} EUR"

    page = staff.get(AGED).content.decode()
    of_tenant = staff.get(f"{AGED}acme-shipping/").content.decode()
    yesterday = f"?as_of={timezone.now().date() - timedelta(days=1)}"
    before = staff.get(f"{AGED}{yesterday}").content.decode()
    (row,) = lines(staff.get("/staff/finance/aged-receivables.csv"))

    assert "waypost, EUR" in page
    assert f'value="{timezone.now():%Y-%m-%d}"' in page
    assert page.count(amount) == 6  # in three columns, of the tenant and of all
    assert f'href="{AGED}acme-shipping/"' in page
    assert f'href="{AGED}acme-shipping/{yesterday}"' in before
    assert amount in of_tenant
    assert "10 days overdue" in of_tenant
    assert f'href="/staff/invoices/{invoice.pk}/"' in of_tenant
    assert amount not in staff.get(f"{AGED}{world.other.slug}/").content.decode()
    assert row["days_1_to_30"] == row["total"] == f"{invoice.payable_minor / 100:.2f}"


def test_a_day_without_debts_says_what_to_do(world: World, as_: As) -> None:
    staff = as_(world.staff)

    page = staff.get(AGED).content.decode()
    of_tenant = staff.get(f"{AGED}acme-shipping/").content.decode()

    assert "issue approved invoices" in page
    assert "aged-receivables.csv" not in page
    assert "Nothing of this tenant was due then" in of_tenant
    assert staff.get(f"{AGED}nobody/").status_code == 404


def test_a_wrong_day_or_month_is_refused_on_the_page(world: World, as_: As) -> None:
    staff = as_(world.staff)
    tomorrow = timezone.now().date() + timedelta(days=1)

    for url, query, words in (
        (AGED, "as_of=soon", "write 2026-11-30"),
        (AGED, f"as_of={tomorrow}", "has not begun"),
        (f"{AGED}acme-shipping/", "as_of=soon", "write 2026-11-30"),
        (PERIODS, "month=May", "write 2026-11"),
        (PERIODS, f"month={tomorrow:%Y-%m}", "has not ended"),
        ("/staff/finance/aged-receivables.csv", "as_of=soon", "write 2026-11-30"),
    ):
        answer = staff.get(f"{url}?{query}")
        assert answer.status_code == 422, url
        assert words in answer.content.decode()


def test_staff_see_which_periods_of_a_month_have_no_invoice(world: World, as_: As) -> None:
    staff = as_(world.staff)
    invoice = rows.held(world.tenant)
    rows.subscribed_since(world.other, rows.last_month().starts_at)

    page = staff.get(PERIODS).content.decode()
    found = lines(staff.get("/staff/finance/periods-without-invoice.csv"))

    assert "is not complete:</strong> 2 periods have no issued invoice" in page
    assert f'href="/staff/invoices/{invoice.pk}/"' in page
    assert invoice.held_reasons[0]["code"] in page
    assert "Correct what holds the invoice" in page
    assert [(row["tenant"], row["invoice"]) for row in found] == [
        (world.tenant.name, invoice.pk), (world.other.name, "")
    ]  # fmt: skip


def test_a_complete_month_says_so(world: World, as_: As) -> None:
    rows.issued(world.tenant)

    page = as_(world.staff).get(PERIODS).content.decode()

    assert f"{rows.last_month().starts_at:%B %Y} is complete" in page
    assert "1 invoice of this month is issued" in page
    assert f'value="{rows.last_month().starts_at:%Y-%m}"' in page
    assert "periods-without-invoice.csv" not in page


def test_a_long_table_names_the_file(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    overdue(world)
    rows.subscribed_since(world.other, rows.last_month().starts_at)
    monkeypatch.setattr(finance_reports, "_MOST", 0)
    staff = as_(world.staff)

    pages = [staff.get(url).content.decode() for url in (AGED, PERIODS)]

    assert [page.count("The table has the") for page in pages] == [1, 1]
    assert [page.count('scope="row"') for page in pages] == [1, 0]  # the sums


def test_the_page_of_finance_leads_to_both_reports(world: World, as_: As) -> None:
    page = as_(world.staff).get("/staff/finance/").content.decode()

    assert f'href="{AGED}"' in page
    assert f'href="{PERIODS}"' in page
