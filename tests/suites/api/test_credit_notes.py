"""Credit notes, void, write-off, coupons and credit over HTTP: roles, tenants, refusals."""

from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from plans.invoicing import issuing
from plans.models import Invoice
from tests.suites.api.conftest import Cast, problem
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE

HALF = {"title": "Launch", "percent": "50", "months": 3, "reason": "the launch"}


@pytest.fixture
def outsider(cast: Cast) -> APIClient:
    """A client of somebody of another tenant."""
    return cast.call("outsider")


@pytest.fixture
def invoice(cast: Cast) -> Invoice:
    """An issued invoice of the tenant, over the fee alone: 49.00 and tax."""
    owner = cast.tenant
    type(owner).objects.filter(pk=owner.pk).update(
        billing_name="Acme", billing_email="b@example.org", billing_address="Quay 1",
        billing_country="DE",
    )  # fmt: skip
    owner.refresh_from_db()
    owner.plan_subscriptions.update(plan=rows.plan(), starts_at=rows.STARTS_AT)
    return rows.issued(owner)


def test_a_credit_note_is_issued_read_and_verified(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, invoice: Invoice
) -> None:
    path = f"/api/v1/staff/invoices/{invoice.pk}/credit-notes"
    body = {"reason": "an outage", "lines": [{"position": 1, "amount_minor": 1000}]}

    made = staff.post(path, body)
    too_much = staff.post(path, {**body, "lines": [{"position": 1, "amount_minor": 4000}]})

    assert (made.status_code, made.json()["total_minor"]) == (201, 1190)
    problem(too_much, 409, "credit_note.too_much")
    number = made.json()["number"]
    listed = owner.get(cast.path("/credit-notes")).json()["items"]
    assert [row["number"] for row in listed] == [number]
    shown = owner.get(cast.path(f"/credit-notes/{number}")).json()
    assert shown["document"]["invoice"]["number"] == invoice.number
    found = owner.post(cast.path(f"/credit-notes/{number}/verify"))
    assert found.json() == {"same": True, "differences": []}
    assert owner.post(path, body).status_code == 404  # what is for staff is not there for others
    assert outsider.get(cast.path(f"/credit-notes/{number}")).status_code == 404


def test_voiding_twice_returns_one_credit_note(staff: APIClient, invoice: Invoice) -> None:
    path = f"/api/v1/staff/invoices/{invoice.pk}/void"

    first, again = (staff.post(path, {"reason": "never ordered"}).json() for _ in range(2))

    assert first == again
    assert staff.get("/api/v1/staff/invoices?state=voided").json()["items"][0]["id"] == invoice.pk


def test_an_overdue_invoice_is_written_off_with_a_reason(
    staff: APIClient, invoice: Invoice
) -> None:
    path = f"/api/v1/staff/invoices/{invoice.pk}/write-off"
    early = staff.post(path, {"reason": "bankrupt"})
    issuing.mark_overdue(by=SYSTEM, now=AFTER_GRACE + timedelta(days=15))

    without = staff.post(path, {})
    done = staff.post(path, {"reason": "bankrupt"})

    problem(early, 409, "invoice.wrong_state")
    assert without.status_code == 422
    assert done.json()["state"] == "uncollectible"
    assert AuditEvent.objects.get(action="invoice.uncollectible").reason == "bankrupt"


def test_a_coupon_is_redeemed_by_who_manages_billing(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient
) -> None:
    made = staff.post("/api/v1/staff/coupons", {**HALF, "code": "launch", "limit": 5})
    first = owner.post(cast.path("/coupons"), {"code": "launch"})
    again = owner.post(cast.path("/coupons"), {"code": "LAUNCH"})

    assert (made.status_code, first.status_code) == (201, 201)
    problem(again, 409, "coupon.redeemed")
    assert outsider.post(cast.path("/coupons"), {"code": "launch"}).status_code == 404
    assert staff.get("/api/v1/staff/coupons").json()["items"][0]["redeemed"] == 1
    (shown,) = owner.get(cast.path("/benefits")).json()["discounts"]
    assert (shown["title"], shown["coupon"]) == ("Launch", "LAUNCH")


def test_staff_give_what_the_tenant_reads(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient
) -> None:
    base = f"/api/v1/staff/tenants/{cast.tenant.slug}"
    credit = {"kind": "prepaid", "amount_minor": 5000, "reference": "bank-1", "reason": "paid"}
    deal = {"title": "Deal", "minimum_minor": 20_000, "reason": "the contract"}

    answers = [
        staff.post(f"{base}/discounts", HALF),
        staff.post(f"{base}/commitments", deal),
        staff.post(f"{base}/credits", credit),
        staff.post(f"{base}/credits", credit),
    ]

    assert [answer.status_code for answer in answers] == [201] * 4
    problem(staff.post(f"{base}/discounts", {**HALF, "reason": ""}), 422, "request.invalid")
    why = dict(AuditEvent.objects.exclude(reason="").values_list("action", "reason"))
    assert (why["discount.give"], why["commitment.agree"]) == ("the launch", "the contract")
    found = owner.get(cast.path("/benefits")).json()
    assert found == staff.get(f"{base}/benefits").json()
    assert [row["left_minor"] for row in found["credits"]] == [5000]
    assert [row["minimum_minor"] for row in found["commitments"]] == [20_000]
    assert found["tax_id_status"] == "none"
    for path, body in (("discounts", HALF), ("commitments", deal), ("credits", credit)):
        assert owner.post(f"{base}/{path}", body).status_code == 404
    assert outsider.get(cast.path("/benefits")).status_code == 404


def test_staff_pay_prepaid_credit_back(cast: Cast, owner: APIClient, staff: APIClient) -> None:
    base = f"/api/v1/staff/tenants/{cast.tenant.slug}/credits"
    credit = {"kind": "prepaid", "amount_minor": 5000, "reference": "bank-1", "reason": "paid"}
    path = f"{base}/{staff.post(base, credit).json()['id']}/pay-back"
    back = {"amount_minor": 2000, "reference": "back-1", "reason": "they leave"}

    answers = [staff.post(path, back) for _ in range(2)]

    assert [(one.status_code, one.json()["left_minor"]) for one in answers] == [(200, 3000)] * 2
    too_much = problem(
        staff.post(path, {**back, "amount_minor": 3001, "reference": "back-2"}),
        409, "credit_grant.too_much",
    )  # fmt: skip
    assert too_much["left_minor"] == 3000
    problem(staff.post(f"{base}/none/pay-back", back), 404, "credit_grant.missing")
    assert owner.get(cast.path("/credit-movements")).json()["items"][0]["change_minor"] == -2000
    for other in ("owner", "viewer", "outsider"):
        assert cast.call(other).post(path, back).status_code == 404
