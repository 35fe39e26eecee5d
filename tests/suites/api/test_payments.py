"""Payments over HTTP: who pays, who sees, webhooks without a login, refunds, overdue invoices."""

import json
from datetime import UTC
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from standardwebhooks import Webhook

from plans.invoicing import receiving
from plans.models import DunningPause, Invoice, Payment, Refund
from plans.payments import providers
from plans.payments.manual import Manual
from plans.payments.port import ProviderRefuses, RefundAnswer, RefundRequest
from tests.suites.api.conftest import Cast, problem
from tests.support.api.money_rows import overdue
from tests.support.api.money_rows import payment as part_payment

pytestmark = pytest.mark.django_db
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(autouse=True)
def _provider(settings: Settings) -> None:
    settings.PAYMENT_PROVIDER = "webhook"
    settings.PAYMENT_PAGE = "https://pay.example/?invoice={number}&amount={amount_minor}"
    settings.PAYMENT_WEBHOOK_SECRET = SECRET


@pytest.fixture
def outsider(cast: Cast) -> APIClient:
    """A client of somebody of another tenant."""
    return cast.call("outsider")


@pytest.fixture
def invoice(cast: Cast) -> Invoice:
    row = overdue(cast.tenant)
    part_payment(overdue(cast.tenant, 2))
    return row


def _delivery(invoice: Invoice, event_id: str = "evt-9", **changes: Any) -> dict[str, Any]:
    data = {
        "invoice": invoice.number,
        "payment": "tx-1",
        "amount_minor": 119,
        "currency": "EUR",
        **changes,
    }
    body = json.dumps({"type": "payment.succeeded", "data": data})
    now = timezone.now().astimezone(UTC)
    return {
        "data": body,
        "content_type": "application/json",
        "HTTP_WEBHOOK_ID": event_id,
        "HTTP_WEBHOOK_TIMESTAMP": str(int(now.timestamp())),
        "HTTP_WEBHOOK_SIGNATURE": Webhook(SECRET).sign(event_id, now, body),
    }


def test_who_manages_billing_gets_a_page_and_nobody_else(
    cast: Cast, owner: APIClient, outsider: APIClient, invoice: Invoice
) -> None:
    path = cast.path(f"/invoices/{invoice.number}/checkout")

    first, again = owner.post(path), owner.post(path)

    assert (first.status_code, again.json()) == (201, first.json())
    assert first.json()["url"] == "https://pay.example/?invoice=WAYPOST-009991&amount=119"
    assert first.json()["amount_minor"] == 119
    assert outsider.post(path).status_code == 404
    assert cast.call("developer").post(path).status_code == 403
    assert owner.get(cast.path(f"/invoices/{invoice.number}")).json()["outstanding_minor"] == 119


def test_lists_have_what_is_left_of_each_invoice(
    cast: Cast, owner: APIClient, staff: APIClient, invoice: Invoice
) -> None:
    for client, path in ((owner, cast.path("/invoices")), (staff, "/api/v1/staff/invoices")):
        left = {row["id"]: row["outstanding_minor"] for row in client.get(path).json()["items"]}
        assert left == {row.pk: receiving.due_minor(row) for row in Invoice.objects.all()}
        assert left[invoice.pk] == 119


def test_by_transfer_only_there_is_no_page(
    cast: Cast, owner: APIClient, invoice: Invoice, settings: Settings
) -> None:
    settings.PAYMENT_PROVIDER = "manual"

    problem(owner.post(cast.path(f"/invoices/{invoice.pk}/checkout")), 409, "payment.no_checkout")


def test_a_webhook_needs_a_signature_and_no_login(
    client: Client, cast: Cast, owner: APIClient, invoice: Invoice
) -> None:
    path = "/payment-events/webhook"
    sent = _delivery(invoice)

    refused = client.post(path, **{**sent, "HTTP_WEBHOOK_SIGNATURE": "v1,AAAA"})
    assert (refused.status_code, refused.json()["code"]) == (400, "payment_event.signature")
    old = client.post(path, **{**sent, "HTTP_WEBHOOK_TIMESTAMP": "1"})
    assert old.status_code == 400
    taken, repeated = client.post(path, **sent), client.post(path, **sent)
    assert (taken.status_code, taken.json()) == (200, {"state": "applied"})
    assert repeated.json() == {"state": "applied"}

    assert Payment.objects.filter(invoice=invoice).count() == 1
    listed = owner.get(cast.path("/payments")).json()["items"]
    assert {row["invoice"] for row in listed} == {"WAYPOST-009991", "WAYPOST-009992"}
    changed = client.post(path, **_delivery(invoice, amount_minor=1))
    assert (changed.status_code, changed.json()["code"]) == (409, "payment_event.changed")


def test_webhooks_of_other_providers_too_large_and_too_many_are_refused(
    client: Client, invoice: Invoice, settings: Settings
) -> None:
    sent = _delivery(invoice)
    assert client.post("/payment-events/stripe", **sent).status_code == 404
    assert client.post("/payment-events/manual", **sent).status_code == 400
    assert client.post("/payment-events/none", **sent).status_code == 404
    assert client.get("/payment-events/webhook").status_code == 405
    large = {**sent, "data": " " * (256 * 1024 + 1)}
    assert client.post("/payment-events/webhook", **large).status_code == 413
    settings.PAYMENT_EVENT_RATE = "0/min"
    assert client.post("/payment-events/webhook", **sent).status_code == 429


def test_staff_see_all_payments_and_refund_them(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, invoice: Invoice
) -> None:
    row = Payment.objects.get()
    path = f"/api/v1/staff/payments/{row.pk}/refunds"
    wanted = {"amount_minor": 10, "reason": "paid twice"}

    problem(staff.post(path, wanted), 422, "refund.reference")
    problem(staff.post(path, {**wanted, "reference": "b-1"}), 409, "refund.needs_credit")
    done = staff.post(path, {**wanted, "reference": "b-1", "reopens": True})
    assert (done.status_code, done.json()["state"]) == (201, "succeeded")
    assert done.json()["currency"] == "EUR"
    too_much = {**wanted, "amount_minor": 41, "reference": "b-2", "reopens": True}
    problem(staff.post(path, too_much), 409, "refund.exceeds_payment")

    assert Refund.objects.get().reopened_minor == 10
    listed = staff.get("/api/v1/staff/payments", {"tenant": cast.tenant.slug}).json()["items"]
    returned = listed[0]["refunds"][0]
    assert (returned["amount_minor"], returned["currency"]) == (10, "EUR")
    assert staff.get("/api/v1/staff/payments", {"source": "stripe"}).json()["items"] == []
    assert owner.post(path, wanted).status_code == 404
    assert outsider.get(cast.path("/payments")).status_code == 404
    assert staff.post("/api/v1/staff/payments/0/refunds", wanted).status_code == 404


class _Refunding(Manual):
    """Sends money of bank transfers back, or raises ``fails``; ``keys`` are those of the calls."""

    has_refunds = True

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fails: BaseException | None = None

    def refund(self, request: RefundRequest) -> RefundAnswer:
        self.keys.append(request.key)
        if self.fails:
            raise self.fails
        return RefundAnswer("re-1", True)


@pytest.fixture
def refunding(invoice: Invoice, monkeypatch: pytest.MonkeyPatch) -> _Refunding:
    """The provider of the only payment."""
    provider = _Refunding()
    monkeypatch.setattr(providers, "REGISTRY", {provider.name: lambda: provider})
    return provider


def _refund(staff: APIClient) -> Any:
    wanted = {"amount_minor": 10, "reason": "paid twice", "reopens": True}
    path = f"/api/v1/staff/payments/{Payment.objects.get().pk}/refunds"
    return staff.post(path, wanted, HTTP_IDEMPOTENCY_KEY="r-1")


def test_a_refund_that_is_requested_again_after_a_crash_is_the_same_for_the_provider(
    staff: APIClient, refunding: _Refunding
) -> None:
    refunding.fails = SystemExit("killed between the payout and the commit")
    with pytest.raises(SystemExit):
        _refund(staff)
    refunding.fails = None

    again = _refund(staff)

    (row,) = Refund.objects.all()
    assert refunding.keys == [row.pk, row.pk]
    assert (again.status_code, again.json()["state"]) == (201, "succeeded")
    assert _refund(staff).json() == again.json()
    assert len(refunding.keys) == 2


def test_a_refund_that_the_provider_refuses_is_refused_again_and_not_sent_again(
    staff: APIClient, refunding: _Refunding
) -> None:
    refunding.fails = ProviderRefuses("The card is closed.")

    first, again = _refund(staff), _refund(staff)

    assert (first.status_code, again.json()) == (409, first.json())
    assert (Refund.objects.get().state, len(refunding.keys)) == ("failed", 1)


def test_more_than_is_due_is_recorded_only_on_purpose(staff: APIClient, invoice: Invoice) -> None:
    path = f"/api/v1/staff/invoices/{invoice.pk}/payments"
    wanted = {"amount_minor": 200, "reference": "b-1", "received_on": "2026-11-25"}

    problem(staff.post(path, wanted), 409, "payment.exceeds_invoice")
    taken = staff.post(path, {**wanted, "surplus_to_credit": True})

    assert (taken.status_code, taken.json()["credit_minor"]) == (201, 81)


def test_overdue_invoices_are_listed_and_their_dunning_is_paused(
    cast: Cast, staff: APIClient, owner: APIClient, invoice: Invoice
) -> None:
    listed = staff.get("/api/v1/staff/overdue").json()["items"]
    assert [(row["number"], row["outstanding_minor"], row["pause"]) for row in listed] == [
        ("WAYPOST-009991", 119, None),
        ("WAYPOST-009992", 69, None),
    ]
    pause = f"/api/v1/staff/tenants/{cast.tenant.slug}/pause-dunning"
    resume = f"/api/v1/staff/tenants/{cast.tenant.slug}/resume-dunning"

    problem(staff.post(pause, {"reason": " "}), 422, "request.invalid")
    assert staff.post(pause, {"reason": "talks"}).json()["until"] is None
    assert staff.get("/api/v1/staff/overdue").json()["items"][0]["pause"] == "talks"
    assert owner.post(pause, {"reason": "talks"}).status_code == 404
    assert staff.post(resume).status_code == 204
    problem(staff.post(resume), 409, "dunning.not_paused")
    assert DunningPause.objects.get().ended_at is not None


def test_a_tenant_suspended_for_unpaid_invoices_pays_and_changes_nothing(
    cast: Cast, owner: APIClient, invoice: Invoice
) -> None:
    cast.tenant.unpaid_stage = "suspended"
    cast.tenant.save()

    refused = owner.post(cast.path("/tokens"), {"name": "ci", "role": "viewer"})
    problem(refused, 403, "tenant.unpaid")
    assert owner.post(cast.path(f"/invoices/{invoice.pk}/checkout")).status_code == 201
