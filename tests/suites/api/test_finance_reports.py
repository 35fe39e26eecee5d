"""/staff/aged-receivables, open items and /staff/periods-without-invoice: answers and isolation."""

import pytest
from django.utils import timezone

from plans.invoicing import issuing
from plans.models import Invoice
from tests.suites.api.conftest import Cast
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
PATHS = [
    "/api/v1/staff/aged-receivables",
    "/api/v1/staff/aged-receivables.csv",
    "/api/v1/staff/tenants/acme/open-items",
    "/api/v1/staff/periods-without-invoice",
    "/api/v1/staff/periods-without-invoice.csv",
]


@pytest.fixture
def invoice(draft: Invoice) -> Invoice:
    return issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF)


def test_the_debts_of_tenants_and_their_sums(cast: Cast, invoice: Invoice) -> None:
    staff, minor = cast.call("staff"), invoice.payable_minor
    assert minor > 0

    found = staff.get("/api/v1/staff/aged-receivables").json()
    items = staff.get("/api/v1/staff/tenants/acme/open-items").json()

    amounts = {
        "not_due_minor": minor, "days_1_to_30_minor": 0, "days_31_to_60_minor": 0,
        "days_61_to_90_minor": 0, "days_over_90_minor": 0, "overdue_minor": 0,
        "total_minor": minor, "legal_entity": "waypost", "currency": "EUR",
    }  # fmt: skip
    assert found == {
        "as_of": str(timezone.now().date()),
        "items": [{**amounts, "tenant": "acme", "tenant_name": cast.tenant.name}],
        "sums": [amounts],
    }
    (item,) = items["items"]
    assert (item["number"], item["bucket"], item["due_minor"]) == (
        invoice.number, "not_due", minor
    )  # fmt: skip
    assert (item["due_on"], item["days_overdue"]) == (str(invoice.due_on), -14)


def test_a_day_and_a_month_are_checked(cast: Cast) -> None:
    staff = cast.call("staff")
    refused = [
        staff.get("/api/v1/staff/aged-receivables?as_of=2999-01-01"),
        staff.get("/api/v1/staff/tenants/acme/open-items?as_of=x"),
        staff.get(f"/api/v1/staff/periods-without-invoice?month={timezone.now():%Y-%m}"),
    ]

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (422, "report.day"), (422, "report.day"), (422, "report.months")
    ]  # fmt: skip
    past = staff.get("/api/v1/staff/aged-receivables?as_of=2020-01-31").json()
    assert past == {"as_of": "2020-01-31", "items": [], "sums": []}


def test_members_and_outsiders_find_no_reports(cast: Cast, invoice: Invoice) -> None:
    for who in ("owner", "billing", "outsider"):
        assert [cast.call(who).get(path).status_code for path in PATHS] == [404] * 5
    assert [cast.call("staff").get(path).status_code for path in PATHS] == [200] * 5
