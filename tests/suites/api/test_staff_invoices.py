"""Staff read, download and verify an invoice of a tenant that they are no member of."""

import pytest
from rest_framework.test import APIClient

from controlplane.core import operations
from controlplane.core.models import AuditEvent
from plans.invoice_formats import INFO
from plans.invoicing import invoice_verification, issuing
from plans.models import Invoice
from tests.suites.api.conftest import Cast, problem
from tests.support.plans.billing_rows import STAFF

PATH = "/api/v1/staff/invoices"


@pytest.fixture
def outsider(cast: Cast) -> APIClient:
    """A client of somebody of another tenant."""
    return cast.call("outsider")


@pytest.fixture
def invoice(draft: Invoice) -> Invoice:
    """An issued invoice of the tenant."""
    return issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF)


def test_staff_read_what_the_tenant_reads(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, invoice: Invoice
) -> None:
    by_number = staff.get(f"{PATH}/{invoice.number}")
    by_id = staff.get(f"{PATH}/{invoice.pk}")

    assert by_number.status_code == 200, by_number.content
    assert by_number.json() == by_id.json()
    of_tenant = owner.get(cast.path(f"/invoices/{invoice.pk}")).json()
    assert by_id.json() == {**of_tenant, "tenant": "acme"}
    assert by_id.json()["document"]["number"] == invoice.number
    for other in (owner, outsider):
        problem(other.get(f"{PATH}/{invoice.pk}"), 404, "missing")
    assert cast.call("anonymous").get(f"{PATH}/{invoice.pk}").status_code == 401


@pytest.mark.parametrize("kind", INFO)
def test_staff_get_the_same_file_as_the_tenant(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, invoice: Invoice, kind: str
) -> None:
    for name in (invoice.pk, invoice.number):
        found = staff.get(f"{PATH}/{name}.{kind}")

        wanted = owner.get(cast.path(f"/invoices/{invoice.pk}.{kind}"))
        assert (found.status_code, found.content) == (200, wanted.content)
        assert found.headers["Content-Type"] == wanted.headers["Content-Type"]
        assert f'"{invoice.number}.{kind}"' in found.headers["Content-Disposition"]
    for other in (owner, outsider):
        problem(other.get(f"{PATH}/{invoice.pk}.{kind}"), 404, "missing")


def test_an_open_invoice_has_no_file_for_staff_either(staff: APIClient, draft: Invoice) -> None:
    problem(staff.get(f"{PATH}/{draft.pk}.ubl.xml"), 409, "invoice.not_en16931")
    Invoice.objects.filter(pk=draft.pk).update(document="", state=Invoice.State.HELD)

    problem(staff.get(f"{PATH}/{draft.pk}.pdf"), 409, "invoice.no_document")
    problem(staff.post(f"{PATH}/{draft.pk}/verify"), 409, "invoice.no_document")
    assert staff.get(f"{PATH}/{draft.pk}").json()["document"] is None


def test_staff_verify_and_read_the_result(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, invoice: Invoice
) -> None:
    begun = staff.post(f"{PATH}/{invoice.number}/verify")

    assert (begun.status_code, begun.json()["kind"]) == (202, "invoice.verify")
    result = begun.headers["Location"]
    assert staff.get(result).json()["state"] == "Running"
    # The tenant shares the verification that runs.
    assert owner.post(cast.path(f"/invoices/{invoice.pk}/verify")).json() == begun.json()
    steps = [{"name": "ledger", "state": "failed", "message": "one entry is missing"}]
    operations.progress(invoice_verification.SUBJECT_TYPE, invoice.pk, steps)
    assert staff.get(result).json()["steps"] == steps
    assert AuditEvent.objects.get(action="invoice.verify").actor == "user:staff@op.test"
    for other in (owner, outsider):
        problem(other.post(f"{PATH}/{invoice.pk}/verify"), 404, "missing")
        problem(other.get(result), 404, "missing")


def test_staff_verify_whole_files(staff: APIClient, invoice: Invoice) -> None:
    begun = staff.post(f"{PATH}/{invoice.pk}/verify?files=true")

    assert begun.json()["kind"] == "invoice.verify_files"
    assert staff.get(begun.headers["Location"]).json()["id"] == begun.json()["id"]
    assert staff.post(f"{PATH}/{invoice.pk}/verify?files=yes").status_code == 422


def test_only_verifications_of_the_invoice_are_found_below_it(
    cast: Cast, staff: APIClient, draft: Invoice, names: dict[str, str]
) -> None:
    found = f"{PATH}/{draft.pk}/verifications"

    assert staff.get(f"{found}/{names['verification']}").status_code == 200
    problem(staff.get(f"{found}/{names['operation']}"), 404, "missing")
    overdue = f"{PATH}/{names['overdue']}/verifications/{names['verification']}"
    problem(staff.get(overdue), 404, "missing")


def test_a_payment_is_recorded_by_the_number_that_the_bank_reports(
    staff: APIClient, invoice: Invoice
) -> None:
    body = {"amount_minor": 1, "reference": "bank-1", "received_on": "2026-11-25"}

    made = staff.post(f"{PATH}/{invoice.number}/payments", body)

    assert (made.status_code, made.json()["invoice"]) == (201, invoice.pk)
    assert staff.get(f"{PATH}/{invoice.number}/payments").json()["items"] == [made.json()]
    assert made.json()["currency"] == invoice.currency


def test_staff_release_an_invoice_whose_samples_are_gone(
    cast: Cast, owner: APIClient, staff: APIClient, outsider: APIClient, draft: Invoice
) -> None:
    path = f"{PATH}/{draft.pk}/release"
    body = {"reason": "The disk is destroyed."}
    problem(staff.post(path, body), 409, "invoice.not_releasable")
    held = [{"code": "samples.none", "message": "Space orders has no sample."}]
    Invoice.objects.filter(pk=draft.pk).update(state=Invoice.State.HELD, held_reasons=held)
    for other in (owner, cast.call("billing"), outsider):
        problem(other.post(path, body), 404, "missing")
    assert cast.call("anonymous").post(path, body).status_code == 401
    assert staff.post(path, {"reason": " "}).status_code == 422

    begun = staff.post(path, body)

    assert (begun.status_code, begun.json()["kind"]) == (202, "invoice.close")
    draft.refresh_from_db()
    assert draft.state == Invoice.State.CLOSING
    assert [(row["code"], row["because"]) for row in draft.releases] == [
        ("samples.none", "The disk is destroyed.")
    ]
    event = AuditEvent.objects.get(action="invoice.release")
    assert (event.actor, event.reason) == ("user:staff@op.test", "The disk is destroyed.")
    problem(staff.post(path, body), 409, "invoice.not_releasable")
