"""/staff/tax-report, its files and `waypost staff finance tax`: answers, months and isolation."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from tests.support.plans.debts import alter
from tests.support.portal import abroad

pytestmark = pytest.mark.django_db
PATHS = [
    "/api/v1/staff/tax-report",
    "/api/v1/staff/tax-report.csv",
    "/api/v1/staff/reverse-charge.csv",
]


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


def test_the_taxes_of_a_month_and_reverse_charge(cast: Cast) -> None:
    abroad.sell()
    month = f"{timezone.now():%Y-%m}"

    found = cast.call("staff").get(f"{PATHS[0]}?first={month}").json()

    first = f"{month}-01"
    seller = {"legal_entity": "waypost", "currency": "EUR", "country": "FR"}
    sums = {**seller, "n_documents": 1, "taxable_minor": 4900}
    taxed = {**sums, "month": first, "category": "S", "percent": "20", "oss": True}
    assert found == {
        "first": first,
        "last": first,
        "items": [
            {**taxed, "category": "AE", "percent": "0", "oss": False, "tax_minor": 0},
            {**taxed, "tax_minor": 980},
        ],
        "reverse_charge": [{**sums, "vat_id": abroad.VAT_ID, "name": "Quai SA"}],
        "disagreements": [],
    }


def test_months_are_checked_and_a_month_without_documents_is_empty(cast: Cast) -> None:
    staff = cast.call("staff")
    refused = [
        staff.get(f"{path}?{query}")
        for path in PATHS
        for query in ("first=May", "first=2020-01&last=2023-01", "first=2026-02&last=2026-01")
    ]

    assert {(one.status_code, one.json()["code"]) for one in refused} == {(422, "report.months")}
    assert staff.get(f"{PATHS[0]}?first=2020-01&last=2020-02").json() == {
        "first": "2020-01-01", "last": "2020-02-01", "items": [], "reverse_charge": [],
        "disagreements": [],
    }  # fmt: skip


def test_members_and_outsiders_find_no_tax_report(cast: Cast) -> None:
    abroad.sell()

    for who in ("owner", "billing", "outsider"):
        assert [cast.call(who).get(path).status_code for path in PATHS] == [404] * 3
    assert [cast.call("staff").get(path).status_code for path in PATHS] == [200] * 3


def test_the_command_shows_and_writes_both_tables(
    run: Callable[..., Ended], cast: Cast, tmp_path: Path
) -> None:
    tax, files = ("staff", "finance", "tax"), [tmp_path / name for name in ("t.csv", "r.csv")]
    abroad.sell()

    table = run(*tax, by="staff")
    customers = run(*tax, "--reverse-charge", by="staff")
    shown = run(*tax, "-o", "json", by="staff")
    assert run(*tax, "--to", str(files[0]), by="staff").code == 0
    assert run(*tax, "--reverse-charge", "--to", str(files[1]), by="staff").code == 0

    assert [table.stdout.count(text) for text in ("49.00 EUR", "9.80 EUR", "FR")] == [2, 1, 2]
    assert "differs" not in table.stdout
    assert abroad.VAT_ID in customers.stdout
    assert "Quai SA" in customers.stdout
    assert "Marie Blanc" not in customers.stdout
    assert [row["tax_minor"] for row in json.loads(shown.stdout)["items"]] == [0, 980]
    written = [list(csv.DictReader(file.read_text().splitlines())) for file in files]
    assert [row["tax"] for row in written[0]] == ["0.00", "9.80"]
    assert [row["vat_id"] for row in written[1]] == [abroad.VAT_ID]
    assert run(*tax, "--first", "soon", by="staff").error == "report.months"


def test_the_command_takes_months_and_names_those_that_differ(
    run: Callable[..., Ended], cast: Cast
) -> None:
    tax = ("staff", "finance", "tax")
    abroad.sell()
    alter("UPDATE plans_ledgerposting SET amount_minor = -1 WHERE account = 'tax'")

    now = run(*tax, by="staff")
    before = run(*tax, "--first", "2020-01", "--last", "2020-02", by="staff")
    no_customers = run(
        *tax, "--first", "2020-01", "--last", "2020-02", "--reverse-charge", by="staff"
    )

    assert f"differs: {timezone.now():%Y-%m} waypost: the ledger says 0.01 EUR" in now.stdout
    assert before.stdout.endswith("No invoice or credit note was issued in these months.\n")
    assert no_customers.stdout.endswith("No document of these months has reverse charge.\n")
