"""Replacing an invoice over HTTP: preview, idempotence, roles, refusals."""

import pytest
from rest_framework.test import APIClient

from plans.models import Invoice
from tests.suites.api.conftest import Cast, problem
from tests.support.plans import billing_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def invoice(cast: Cast) -> Invoice:
    """An issued invoice of the tenant: 49.00 and 19 % tax."""
    owner = cast.tenant
    type(owner).objects.filter(pk=owner.pk).update(
        billing_name="Acme", billing_email="b@example.org", billing_address="Quay 1",
        billing_country="DE",
    )  # fmt: skip
    owner.refresh_from_db()
    owner.plan_subscriptions.update(plan=rows.plan(), starts_at=rows.STARTS_AT)
    return rows.issued(owner)


def test_staff_preview_and_replace_an_invoice(cast: Cast, invoice: Invoice) -> None:
    staff, owner = cast.call("staff"), cast.call("owner")
    type(cast.tenant).objects.filter(pk=cast.tenant.pk).update(billing_name="Better Name SARL")
    path = f"/api/v1/staff/invoices/{invoice.number}/replacement"

    shown = staff.get(path).json()
    problem(
        staff.post(path, {"reason": "wrong name", "confirmed": "0" * 64}),
        409,
        "invoice.replacement_changed",
    )
    asked = {"reason": "wrong name", "confirmed": shown["sha256"]}
    made, again = (staff.post(path, asked) for _ in range(2))

    assert (shown["net_minor"], shown["tax_minor"], shown["total_minor"]) == (4900, 931, 5831)
    assert shown["document"]["buyer"]["name"] == "Better Name SARL"
    assert (made.status_code, made.json()["state"]) == (201, "issued")
    assert again.json()["id"] == made.json()["id"]
    number = made.json()["number"]
    old = owner.get(cast.path(f"/invoices/{invoice.number}")).json()
    new = owner.get(cast.path(f"/invoices/{number}")).json()
    assert (old["state"], old["replaces"], old["replaced_by"]) == ("voided", None, number)
    assert (new["replaces"], new["replaced_by"]) == (invoice.number, None)
    problem(staff.get(path), 409, "invoice.wrong_state")


@pytest.mark.parametrize("who", ["owner", "outsider"])
def test_only_staff_replace(cast: Cast, invoice: Invoice, who: str) -> None:
    client: APIClient = cast.call(who)
    path = f"/api/v1/staff/invoices/{invoice.pk}/replacement"

    assert client.get(path).status_code == client.post(path, {"reason": "x"}).status_code == 404
    assert not Invoice.objects.filter(replaces=invoice).exists()


def test_a_replacement_needs_a_reason(cast: Cast, invoice: Invoice) -> None:
    path = f"/api/v1/staff/invoices/{invoice.pk}/replacement"

    problem(cast.call("staff").post(path, {}), 422, "request.invalid")


def test_a_replacement_needs_billing_details(cast: Cast, invoice: Invoice) -> None:
    type(cast.tenant).objects.filter(pk=cast.tenant.pk).update(billing_address="")
    path = f"/api/v1/staff/invoices/{invoice.pk}/replacement"

    problem(cast.call("staff").get(path), 409, "billing_details.missing")
