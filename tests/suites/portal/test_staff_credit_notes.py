"""Staff download and verify a credit note of an organization that they are no member of."""

import pytest

from plans.invoicing import credit_notes
from plans.models import CreditNote
from tests.suites.portal.conftest import As
from tests.support.plans.billing_rows import STAFF
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
PATH = "/staff/credit-notes/"


@pytest.fixture
def note(world: World) -> CreditNote:
    """A credit note of Acme Shipping."""
    invoice = rows.issued(world.tenant)
    fee = invoice.lines.get(meter="plan_fee").position
    return credit_notes.issue(invoice=invoice, wanted={fee: 100}, reason="an outage", by=STAFF)


def test_the_invoice_leads_to_every_file(world: World, note: CreditNote, as_: As) -> None:
    client, of_tenant = as_(world.staff), as_(world.billing)

    page = client.get(f"/staff/invoices/{note.invoice_id}/").content.decode()

    for kind in ("pdf", "json", "ubl.xml", "cii.xml", "facturx.pdf"):
        url = f"{PATH}{note.number}.{kind}"
        assert f'href="{url}" download' in page
        wanted = of_tenant.get(f"/t/acme-shipping/credit-notes/{note.number}.{kind}")
        found = client.get(url)
        assert (found.status_code, found.content) == (200, wanted.content)
        assert found.headers["Cache-Control"] == wanted.headers["Cache-Control"] == "no-store"
    assert client.get(f"{PATH}{note.number}.csv").status_code == 404
    assert client.get(f"{PATH}WP-CN-999999.pdf").status_code == 404


def test_a_verification_says_on_the_invoice_what_differs(
    world: World, note: CreditNote, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = as_(world.staff), f"{PATH}{note.number}/verify"
    invoice = f"/staff/invoices/{note.invoice_id}/"
    assert f'action="{url}"' in client.get(invoice).content.decode()

    same = client.post(url, follow=True)
    found = credit_notes.CreditNoteVerification(False, ("ledger: the entry differs",))
    monkeypatch.setattr(credit_notes, "verify", lambda note: found)
    differs = client.post(url, follow=True)

    assert same.redirect_chain == [(invoice, 302)]
    assert f"{note.number}: document, amounts and ledger are the same." in same.content.decode()
    assert f"{note.number} differs. ledger: the entry differs" in differs.content.decode()


def test_the_tenants_page_has_no_button_to_verify(world: World, note: CreditNote, as_: As) -> None:
    url = f"/t/acme-shipping/invoices/{note.invoice_id}/"

    page = as_(world.owner).get(url).content.decode()

    assert f"/t/acme-shipping/credit-notes/{note.number}.pdf" in page
    assert "/staff/" not in page


@pytest.mark.parametrize("who", ["owner", "billing", "outsider"])
def test_nobody_else_gets_them_here(world: World, note: CreditNote, as_: As, who: str) -> None:
    client = as_(getattr(world, who))

    assert client.get(f"{PATH}{note.number}.pdf").status_code == 404
    assert client.post(f"{PATH}{note.number}/verify").status_code == 404
