"""The operators' tax report: VAT by country and rate, and reverse charge by VAT id."""

import csv
import io
import re

import pytest
from django.utils import timezone

from controlplane.console.views import finance_reports
from tests.suites.portal.conftest import As
from tests.support.plans.debts import alter
from tests.support.portal import abroad, rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
TAX = "/staff/finance/tax/"


def lines(answer: object) -> list[dict[str, str]]:
    """Return the rows of a downloaded CSV file."""
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def cells(page: str) -> list[list[str]]:
    """Return the texts of the cells of each row that has some."""
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r'<tr><th scope="row".*?</tr>', page)
    ]


def test_staff_see_vat_by_country_and_reverse_charge_by_vat_id(world: World, as_: As) -> None:
    abroad.sell()
    staff, month = as_(world.staff), timezone.now()

    page = staff.get(TAX).content.decode()
    rates = lines(staff.get("/staff/finance/tax-report.csv"))
    customers = lines(staff.get("/staff/finance/reverse-charge.csv"))

    name = f"{month:%B %Y}"
    assert cells(page) == [
        [name, "waypost", "FR", "AE", "0 %", "no", "1", "49.00 EUR", "0.00 EUR"],
        [name, "waypost", "FR", "S", "20 %", "yes", "1", "49.00 EUR", "9.80 EUR"],
        [abroad.VAT_ID, "Quai SA", "FR", "waypost", "1", "49.00 EUR"],
    ]
    assert "is what the ledger booked to the account" in page
    assert f'value="{month:%Y-%m}"' in page
    assert [(row["category"], row["oss"], row["tax"]) for row in rates] == [
        ("AE", "false", "0.00"), ("S", "true", "9.80")
    ]  # fmt: skip
    assert [(row["vat_id"], row["taxable"]) for row in customers] == [(abroad.VAT_ID, "49.00")]


def test_the_months_of_the_query_count(world: World, as_: As) -> None:
    abroad.sell()
    staff = as_(world.staff)

    page = staff.get(f"{TAX}?first=2020-01&last=2020-03").content.decode()
    rates = lines(staff.get("/staff/finance/tax-report.csv?first=2020-01&last=2020-03"))

    assert "was issued from January 2020 to March 2020" in page
    assert "issue approved invoices" in page
    assert ".csv" not in page
    assert rates == []
    this = f"first={timezone.now():%Y-%m}"
    assert f'tax-report.csv?{this}" download' in staff.get(f"{TAX}?{this}").content.decode()


def test_without_reverse_charge_the_page_says_what_it_needs(world: World, as_: As) -> None:
    rows.issued(world.tenant)

    page = as_(world.staff).get(TAX).content.decode()

    assert cells(page)[0][2:6] == ["GB", "flat rate", "19 %", "no"]
    assert "No document of these months has reverse charge" in page
    assert "reverse-charge.csv" not in page


def test_a_month_that_differs_from_the_ledger_is_named(world: World, as_: As) -> None:
    rows.issued(world.tenant)
    alter("UPDATE plans_ledgerposting SET amount_minor = -1 WHERE account = 'tax'")

    page = as_(world.staff).get(TAX).content.decode()

    assert f"differ: {timezone.now():%Y-%m} waypost: the ledger says 0.01 EUR" in page
    assert "is what the ledger booked" not in page


def test_wrong_months_are_refused_on_the_page(world: World, as_: As) -> None:
    staff = as_(world.staff)

    for query, words in (
        ("first=May", "write 2026-11"),
        ("first=2026-05&last=2026-04", "Name 1 to 36 months"),
        ("first=2020-01&last=2023-01", "Name 1 to 36 months"),
        ("last=9999-12", "Name months from 2000 to 2200"),
    ):
        answer = staff.get(f"{TAX}?{query}")
        assert answer.status_code == 422, query
        assert words in answer.content.decode()
        assert cells(answer.content.decode()) == []


def test_a_long_table_names_the_file(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    abroad.sell()
    monkeypatch.setattr(finance_reports, "_MOST", 0)

    page = as_(world.staff).get(TAX).content.decode()

    assert page.count("The CSV file has all") == 2
    assert cells(page) == []


def test_the_page_of_finance_leads_to_the_report(world: World, as_: As) -> None:
    assert f'href="{TAX}"' in as_(world.staff).get("/staff/finance/").content.decode()


def test_members_find_no_tax_report(world: World, as_: As) -> None:
    paths = [TAX, "/staff/finance/tax-report.csv", "/staff/finance/reverse-charge.csv"]

    for person in (world.owner, world.billing, world.outsider):
        assert [as_(person).get(path).status_code for path in paths] == [404] * 3
    assert [as_(world.staff).get(path).status_code for path in paths] == [200] * 3
