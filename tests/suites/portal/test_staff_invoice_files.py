"""Staff download and verify an invoice of an organization that they are no member of."""

import pytest

from controlplane.core import operations
from controlplane.core.models import AuditEvent, Operation
from plans.models import Invoice
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
LIST = "/staff/invoices/"


@pytest.fixture
def invoice(world: World) -> Invoice:
    """An issued invoice of Acme Shipping."""
    return rows.issued(world.tenant)


def test_the_page_leads_to_every_file_of_an_issued_invoice(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.staff), f"{LIST}{invoice.id}/"
    of_tenant = as_(world.billing)

    page = client.get(url).content.decode()

    for kind in ("pdf", "csv", "json", "ubl.xml", "cii.xml", "facturx.pdf"):
        assert f'href="{url}file.{kind}" download' in page
        found = client.get(f"{url}file.{kind}")
        wanted = of_tenant.get(f"/t/acme-shipping/invoices/{invoice.id}/file.{kind}")
        assert (found.status_code, found.content) == (200, wanted.content)
    assert client.get(f"{LIST}{invoice.number}/file.json").content == invoice.document.encode()
    assert f"waypost staff invoices verify {invoice.number}" in page


def test_an_invoice_without_a_document_has_no_file(world: World, invoice: Invoice, as_: As) -> None:
    client, month = as_(world.staff), rows.last_month()
    starts_at = month.starts_at.replace(year=month.starts_at.year - 1)
    closing = Invoice.objects.create(
        tenant=world.tenant, starts_at=starts_at, ends_at=starts_at.replace(day=2)
    )

    assert client.get(f"{LIST}{invoice.id}/file.docx").status_code == 404
    assert client.get(f"{LIST}{closing.id}/file.pdf").status_code == 404
    assert "file.pdf" not in client.get(f"{LIST}{closing.id}/").content.decode()


def test_a_verification_is_requested_and_its_outcome_shown(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.staff), f"{LIST}{invoice.id}/"
    page = client.get(url).content.decode()

    asked = client.post(url + "verify")
    operation = Operation.objects.get(kind="invoice.verify", subject_id=invoice.id)
    before = client.get(url).content.decode()
    step = {"name": "ledger", "state": "failed", "message": "an entry is missing"}
    operations.progress(operation.subject_type, invoice.id, [step])
    operations.fail(
        operation.subject_type, invoice.id, code="invoice.differs", message="it differs"
    )
    after = client.get(url).content.decode()

    assert f'action="{url}verify"' in page
    assert (asked.status_code, asked.headers["Location"]) == (302, url)
    assert "Being recomputed" in before
    assert "Not the same." in after
    assert "ledger: differs" in after
    assert AuditEvent.objects.get(action="invoice.verify").actor == f"user:{world.staff.email}"


def test_whole_files_are_checked_if_asked(world: World, invoice: Invoice, as_: As) -> None:
    as_(world.staff).post(f"{LIST}{invoice.id}/verify", {"files": "on"})

    assert Operation.objects.filter(kind="invoice.verify_files", subject_id=invoice.id).exists()


@pytest.mark.parametrize("who", ["owner", "outsider"])
def test_nobody_else_gets_them_here(world: World, invoice: Invoice, as_: As, who: str) -> None:
    client = as_(getattr(world, who))

    assert client.get(f"{LIST}{invoice.id}/file.pdf").status_code == 404
    assert client.post(f"{LIST}{invoice.id}/verify").status_code == 404
    assert not Operation.objects.filter(kind="invoice.verify").exists()
