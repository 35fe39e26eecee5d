"""Credit notes, void, write-off and coupons on the pages of operators and of tenants."""

from datetime import timedelta
from decimal import Decimal

import pytest

from controlplane.core.audit import SYSTEM
from plans.invoicing import discounting, issuing
from plans.invoicing.discounting import Reduction
from plans.models import CreditNote
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


def test_staff_take_back_a_part_then_all_of_an_invoice(world: World, as_: As) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    url = f"/staff/invoices/{invoice.pk}/"
    fee = invoice.lines.get(meter="plan_fee").position
    part = {"position": str(fee), "amount": "1.00", "reason": "an outage"}

    refused = client.post(url + "credit", {**part, "amount": "1000000"})
    client.post(url + "credit", part)
    without = client.post(url + "void", {"reason": ""})
    client.post(url + "void", {"reason": "never ordered"})

    assert (refused.status_code, without.status_code) == (409, 400)
    assert [note.net_minor for note in CreditNote.objects.order_by("number")] == [
        100, invoice.net_minor - 100,
    ]  # fmt: skip
    invoice.refresh_from_db()
    assert invoice.state == "voided"


def test_staff_list_the_credit_notes_of_all_tenants(world: World, as_: As) -> None:
    client = as_(world.staff)

    empty = client.get("/staff/credit-notes/").content.decode()
    for tenant in (world.tenant, world.other):
        invoice = rows.issued(tenant)
        client.post(f"/staff/invoices/{invoice.pk}/void", {"reason": "never ordered"})
    page = client.get("/staff/credit-notes/").content.decode()

    assert "No credit note yet" in empty
    for note in CreditNote.objects.select_related("tenant"):
        assert f"/staff/credit-notes/{note.number}.pdf" in page
        assert note.tenant.name in page
        assert f"/staff/invoices/{note.invoice_id}/" in page


def test_the_form_says_that_amounts_of_lines_are_before_discounts(world: World, as_: As) -> None:
    month = rows.last_month()
    tenth = Reduction("Partner", percent=Decimal(10))
    discounting.give(tenant=world.tenant, reduction=tenth, by=SYSTEM, now=month.starts_at)
    invoice, other = rows.issued(world.tenant), rows.issued(world.other)
    off = -invoice.lines.get(meter="discount").amount_minor
    client = as_(world.staff)

    page = client.get(f"/staff/invoices/{invoice.pk}/").content.decode()
    without = client.get(f"/staff/invoices/{other.pk}/").content.decode()

    assert f"The invoice has discounts of {off / 100:.2f} EUR" in page
    assert "subtract its share of the discounts" in page
    assert "discounts of" not in without


def test_the_form_shows_the_position_that_the_command_names(world: World, as_: As) -> None:
    invoice = rows.issued(world.tenant)
    fee = invoice.lines.get(meter="plan_fee")

    page = as_(world.staff).get(f"/staff/invoices/{invoice.pk}/").content.decode()

    assert f'<option value="{fee.position}">{fee.position}. {fee.description}, ' in page


def test_a_tenant_sees_its_credit_notes_and_nobody_elses(world: World, as_: As) -> None:
    invoice = rows.issued(world.tenant)
    as_(world.staff).post(f"/staff/invoices/{invoice.pk}/void", {"reason": "never ordered"})
    number = CreditNote.objects.get().number
    owner = as_(world.owner)

    page = owner.get(f"/t/{world.tenant.slug}/invoices/{invoice.pk}/").content.decode()
    file = owner.get(f"/t/{world.tenant.slug}/credit-notes/{number}.json")

    assert number in page
    assert f"<td>Credit note {number}: -{invoice.total_minor / 100:.2f} EUR</td>" in page
    assert "never ordered" in page
    assert file.json()["number"] == number
    assert owner.get(f"/t/{world.tenant.slug}/credit-notes/{number}.xml").status_code == 404


def test_staff_write_an_overdue_invoice_off(world: World, as_: As) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    assert invoice.due_at is not None
    issuing.mark_overdue(by=SYSTEM, now=invoice.due_at + timedelta(days=1))

    client.post(f"/staff/invoices/{invoice.pk}/write-off", {"reason": "bankrupt"})

    invoice.refresh_from_db()
    assert invoice.state == "uncollectible"
