"""The operator's page that replaces an invoice; its link on the pages of both invoices."""

import re
from decimal import Decimal

import pytest

from plans.models import Invoice
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


def test_staff_see_both_buyers_and_replace_the_invoice(world: World, as_: As) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    world.tenant.billing_name = "Better Name SARL"
    world.tenant.save(update_fields=["billing_name"])
    url = f"/staff/invoices/{invoice.pk}/"

    assert f'href="{url}replace"' in client.get(url).content.decode()
    asked = client.get(url + "replace").content.decode()
    (shown,) = re.findall(r'name="confirmed" value="(\w{64})"', asked)
    without = client.post(url + "replace", {"reason": "", "confirmed": shown})
    stale = client.post(url + "replace", {"reason": "wrong name", "confirmed": "0" * 64})
    wish = {"reason": "wrong name", "confirmed": shown}
    made = client.post(url + "replace", wish, follow=True)

    assert "Better Name SARL" in asked
    assert f"Replace {invoice.number}" in asked
    assert (without.status_code, stale.status_code) == (400, 409)
    assert "look at it again" in stale.content.decode()
    new = Invoice.objects.get(replaces=invoice)
    page = made.content.decode()
    assert f"{new.number} replaces {invoice.number}." in page
    assert f"Replaces invoice {invoice.number}" in page
    old = client.get(url).content.decode()
    assert f'<a href="/staff/invoices/{new.pk}/">{new.number}</a> replaces it.' in old
    assert "replace" not in old.partition("Next actions")[2].partition("</section>")[0].lower()
    mine = as_(world.owner).get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/").content.decode()
    assert f"/t/{world.tenant.slug}/invoices/{new.pk}/" in mine
    again = client.get(url + "replace")
    assert (again.status_code, f"{new.number} replaces" in again.content.decode()) == (409, True)


def test_the_page_names_credit_notes_that_are_not_repeated(world: World, as_: As) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    url = f"/staff/invoices/{invoice.pk}/"
    fee = invoice.lines.get(meter="plan_fee").position
    part = {"position": str(fee), "amount": "1.00", "reason": "an outage"}
    client.post(url + "credit", part)

    page = client.get(url + "replace").content.decode()

    note = invoice.credit_notes.get()
    client.post(url + "void", {"reason": "wrong name"})
    of_voided = client.get(url + "replace").content.decode()
    last = invoice.credit_notes.order_by("number").last()
    for shown in (page, of_voided):
        assert f"{invoice.number} has credit notes." in shown
        assert note.number in shown
    assert last is not None
    assert last.number not in of_voided


def test_a_draft_cannot_be_replaced(world: World, as_: As) -> None:
    draft, client = rows.drafted(world.tenant), as_(world.staff)

    answer = client.get(f"/staff/invoices/{draft.pk}/replace")

    assert answer.status_code == 409
    assert "/replace" not in client.get(f"/staff/invoices/{draft.pk}/").content.decode()


def test_the_old_invoice_links_to_the_payment_that_became_credit(world: World, as_: As) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    url = f"/staff/invoices/{invoice.pk}/"
    amount = str(Decimal(invoice.total_minor) / 100)
    client.post(url + "pay", {"amount": amount, "reference": "b-1", "received_on": "2026-11-20"})
    client.post(url + "replace", {"reason": "wrong name"})

    page = client.get(url).content.decode()

    payment = invoice.payments.get()
    assert f'<a href="/staff/payments/{payment.pk}/">b-1</a>' in page
    assert Invoice.objects.get(replaces=invoice).state == "paid"
