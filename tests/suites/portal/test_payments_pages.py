"""Pages of payments: the way to pay, the history, refunds by staff, overdue invoices."""

from datetime import UTC, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from controlplane.core.audit import SYSTEM
from plans.invoicing import invoice_closing, issuing, receiving
from plans.models import (
    DunningPause,
    Invoice,
    Payment,
    PaymentEvent,
    Refund,
)
from plans.payments import dunning, providers
from plans.payments.manual import Manual
from plans.payments.port import RefundAnswer, RefundRequest
from plans.rating.periods import month_of
from tenants.models import Tenant
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def invoice(world: World) -> Invoice:
    return rows.issued(world.tenant)


class Refunding(Manual):
    """Sends money of bank transfers back."""

    has_refunds = True

    def refund(self, request: RefundRequest) -> RefundAnswer:
        return RefundAnswer(f"re-{request.key}", True)


def _paid(invoice: Invoice, amount: int = 0) -> Payment:
    return issuing.record_payment(
        invoice=invoice,
        amount_minor=amount or receiving.outstanding_minor(invoice),
        source="manual",
        reference="bank-1",
        received_on=timezone.now().astimezone(UTC).date(),
        by=SYSTEM,
    )


def test_an_issued_invoice_is_paid_on_the_providers_page(
    world: World, as_: As, invoice: Invoice, settings: Settings
) -> None:
    settings.PAYMENT_PROVIDER = "webhook"
    settings.PAYMENT_PAGE = "https://pay.example/{number}"
    settings.PAYMENT_WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    owner, page = as_(world.owner), f"/t/{world.tenant.slug}/invoices/{invoice.pk}/"

    assert f'href="{page}pay"' in owner.get(page).content.decode()
    assert "pay.example" not in owner.get(f"{page}pay").content.decode()
    ready = owner.post(f"{page}pay").content.decode()
    assert f'href="https://pay.example/{invoice.number}"' in ready

    _paid(invoice)
    assert f'href="{page}pay"' not in owner.get(page).content.decode()
    assert "Nothing is due" in owner.get(f"{page}pay").content.decode()
    assert owner.post(f"{page}pay").status_code == 409


def test_without_a_provider_the_page_names_the_account(
    world: World, as_: As, invoice: Invoice, settings: Settings
) -> None:
    settings.PAYMENT_INSTRUCTIONS = "IBAN DE00 <1>"

    page = as_(world.owner).get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/pay")

    text = page.content.decode()
    assert "IBAN DE00 &lt;1&gt;" in text
    assert str(invoice.number) in text


def test_without_an_account_the_page_sends_the_payer_to_the_operator(
    world: World, as_: As, invoice: Invoice
) -> None:
    page = as_(world.owner).get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/pay")

    text = page.content.decode()
    assert "Ask the operator to which account you transfer the amount" in text
    assert str(invoice.number) in text


def test_the_payer_who_comes_back_is_told_to_wait(world: World, as_: As, invoice: Invoice) -> None:
    page = as_(world.owner).get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/?paid=1")

    assert "no need to pay again" in page.content.decode()


def test_the_history_shows_payments_and_refunds_and_says_when_there_is_none(
    world: World, as_: As, invoice: Invoice
) -> None:
    owner, url = as_(world.owner), f"/t/{world.tenant.slug}/invoices/payments"
    assert "No payment yet" in owner.get(url).content.decode()
    payment = _paid(invoice)
    wanted = {
        "amount": "1.00",
        "reason": "sorry",
        "reference": "b-1",
        "reopens": "on",
        "seen_left": str(payment.amount_minor),
    }

    answer = as_(world.staff).post(f"/staff/payments/{payment.pk}/", wanted)

    assert answer.status_code == 302
    assert Refund.objects.get().amount_minor == 100
    text = owner.get(url).content.decode()
    assert str(invoice.number) in text
    assert "refunded" in text


def test_staff_see_payments_and_events_that_need_a_look(
    world: World, as_: As, invoice: Invoice
) -> None:
    payment = _paid(invoice)
    now = timezone.now()
    PaymentEvent.objects.create(
        provider="stripe",
        event_id="evt_1",
        kind="payment.succeeded",
        occurred_at=now,
        received_at=now,
        state="refused",
        message="It names no invoice of this installation.",
    )
    staff = as_(world.staff)

    text = staff.get("/staff/payments/").content.decode()
    assert "It names no invoice" in text
    assert str(invoice.number) in text
    wanted = {"amount": "1.00", "reason": "x", "seen_left": str(payment.amount_minor)}
    refused = staff.post(f"/staff/payments/{payment.pk}/", wanted)
    assert refused.status_code == 400  # the bank's reference is missing
    no_credit = {**wanted, "reference": "b"}
    assert staff.post(f"/staff/payments/{payment.pk}/", no_credit).status_code == 409
    assert staff.get("/staff/payments/0/").status_code == 404
    assert as_(world.owner).get("/staff/payments/").status_code == 404


def test_a_refund_that_is_sent_twice_goes_back_once(
    world: World, as_: As, invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    payment = _paid(invoice)
    url, staff = f"/staff/payments/{payment.pk}/", as_(world.staff)
    shown = staff.get(url).context["form"]["seen_left"].value()
    # Without a reference nothing but what was left tells the second request from a new wish.
    wanted = {"amount": "1.00", "reason": "sorry", "reopens": "on", "seen_left": str(shown)}
    monkeypatch.setattr(providers, "REGISTRY", {Manual.name: Refunding})

    first, second = staff.post(url, wanted), staff.post(url, wanted)

    assert (first.status_code, second.status_code) == (302, 409)
    assert Refund.objects.count() == 1
    assert "meanwhile" in second.content.decode()
    # The page shows what was made. Whoever wants one more sends its form.
    form = second.context["form"]
    assert [form[name].value() for name in ("amount", "reason")] == ["1.00", "sorry"]
    again = form["seen_left"].value()
    assert staff.post(url, {**wanted, "seen_left": again}).status_code == 302
    assert Refund.objects.count() == 2


def test_overdue_invoices_are_listed_paused_and_resumed(
    world: World, as_: As, invoice: Invoice, settings: Settings
) -> None:
    settings.DUNNING_REMINDER_DAYS, settings.DUNNING_LIMIT_DAYS = (1,), 5
    assert invoice.due_at is not None
    now = invoice.due_at + timedelta(days=2)
    issuing.mark_overdue(by=SYSTEM, now=now)
    staff, slug = as_(world.staff), world.tenant.slug

    assert "No reminder yet" in staff.get("/staff/overdue/").content.decode()
    dunning.advance_all(now)
    assert "No sending" in staff.get("/staff/overdue/").content.decode()
    page = as_(world.owner).get(f"/t/{slug}/invoices/{invoice.pk}/").content.decode()
    assert "your clients can" in page
    assert staff.post(f"/staff/overdue/{slug}/pause", {"reason": ""}).status_code == 400
    staff.post(f"/staff/overdue/{slug}/pause", {"reason": "we talk"})
    assert "Paused: we talk" in staff.get("/staff/overdue/").content.decode()
    staff.post(f"/staff/overdue/{slug}/resume")
    assert DunningPause.objects.get().ended_at is not None


@pytest.mark.parametrize(
    ("stage", "words"), [("limited", "cannot send"), ("suspended", "are refused")]
)
def test_every_page_says_what_unpaid_invoices_prevent(
    world: World, as_: As, stage: str, words: str
) -> None:
    world.tenant.unpaid_stage = stage
    world.tenant.save()

    text = as_(world.owner).get(f"/t/{world.tenant.slug}/").content.decode()

    assert "Invoices of" in text
    assert words in text


def test_pages_name_the_day_that_the_document_names(world: World, as_: As) -> None:
    rows.bill_to(world.tenant)
    Tenant.objects.filter(pk=world.tenant.pk).update(billing_time_zone="Pacific/Kiritimati")
    world.tenant.refresh_from_db()
    month = month_of(timezone.now(), "Pacific/Kiritimati")
    month = month_of(month.starts_at - timedelta(days=1), "Pacific/Kiritimati")
    asked = rows.closing(world.tenant, month)
    draft = invoice_closing.close(invoice=asked, evidence=rows.evidence(()), by=SYSTEM)
    approved = issuing.approve(invoice=draft, by=SYSTEM)
    # 13:00 in UTC is 03:00 of the next day there.
    at = (timezone.now() - timedelta(days=40)).replace(hour=13, minute=0)
    invoice = issuing.issue(invoice=approved, by=SYSTEM, now=at)
    assert invoice.due_at is not None
    issuing.mark_overdue(by=SYSTEM)
    day = invoice.due_at.astimezone(UTC).date() + timedelta(days=1)
    words = f"{day.day} {day:%b %Y}"

    paying = as_(world.owner).get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/pay")
    overdue = as_(world.staff).get("/staff/overdue/")

    assert f"Due by {words}." in paying.content.decode()
    assert f">{words}</td>" in overdue.content.decode()
