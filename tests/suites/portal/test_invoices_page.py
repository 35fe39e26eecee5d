"""Pages of invoices: what the running period costs, issued ones, files, the proof."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.core import operations
from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from plans.invoicing import discounting, invoice_closing, issuing, receiving
from plans.ledger import posting
from plans.models import Invoice, Payment
from plans.quotas import standings
from plans.rating import periods
from plans.rating.periods import Period
from tenants.models import Tenant
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
LIST = "/t/acme-shipping/invoices/"


@pytest.fixture
def invoice(world: World) -> Invoice:
    space = rows.active_space(world.tenant)
    cells = [rows.cell(space, "messages_in", 7_000_000, rows.last_month().starts_at, "orders")]
    rows.used(*cells)
    return rows.issued(world.tenant, cells)


def test_the_list_leads_to_invoices_and_to_the_running_period(
    world: World, invoice: Invoice, as_: As
) -> None:
    page = as_(world.billing).get(LIST).content.decode()

    assert f'href="{LIST}{invoice.id}/"' in page
    assert str(invoice.number) in page
    assert f'href="{LIST}preview"' in page


def test_lists_and_pages_show_what_is_left_of_a_partly_paid_invoice(
    world: World, invoice: Invoice, as_: As
) -> None:
    left = f"{(invoice.payable_minor - 1000) / 100:,.2f} EUR"
    paid = Payment(
        source="manual", reference="bank-1", amount_minor=1000, received_on=timezone.localdate()
    )
    client, staff = as_(world.billing), as_(world.staff)
    before = client.get(LIST).content.decode()
    receiving.receive(invoice=invoice, payment=paid, by=SYSTEM)

    assert "Left to pay" not in before
    for page in (
        client.get(LIST),
        client.get(f"{LIST}{invoice.id}/"),
        staff.get("/staff/invoices/"),
        staff.get(f"/staff/invoices/{invoice.id}/"),
        staff.get(f"/staff/tenants/{world.tenant.slug}/"),
    ):
        text = page.content.decode()
        assert "Left to pay" in text
        assert left in text


def spend(tenant: Tenant) -> int:
    now = timezone.now()
    return standings.spend(tenant, periods.month_of(now, tenant.billing_time_zone), now).landed


def total_before_tax(page: str) -> str:
    found = re.search(r"Total before tax.*?([0-9,.]+ EUR)", page, re.S)
    assert found is not None
    return found[1]


def test_the_overview_says_since_when_it_counts_after_an_early_close(world: World, as_: As) -> None:
    rows.space(world.tenant)
    client, home = as_(world.owner), "/t/acme-shipping/"
    begins = rows.this_month()
    whole = client.get(home).content.decode()
    # So large that one second of it has a price.
    discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=10**9, span=None, by=rows.STAFF
    )
    rows.bill_to(world.tenant)
    waiting = rows.closing(world.tenant, Period(begins, begins + timedelta(seconds=1)))
    # It has no amounts yet, and what it comes to must not be missing meanwhile.
    closing, spent = client.get(home).content.decode(), spend(world.tenant)
    cost = client.get(f"{home}usage/").content.decode()
    made = invoice_closing.close(invoice=waiting, evidence=rows.evidence([]), by=rows.STAFF)
    draft = client.get(home).content.decode()
    assert spend(world.tenant) == spent
    assert total_before_tax(client.get(f"{home}usage/").content.decode()) == total_before_tax(cost)
    approved = issuing.approve(invoice=made, by=rows.STAFF)
    closed = issuing.issue(invoice=approved, by=rows.STAFF)
    Invoice.objects.filter(pk=closed.pk).update(state=Invoice.State.PAID)
    rest = client.get(home).content.decode()

    earlier = "Earlier in this month, invoiced or in preparation"
    assert earlier not in whole
    assert "Since <time" in rest
    assert closed.total_minor > 0
    for page in (closing, draft, rest):
        assert f"{earlier}: {closed.total_minor / 100:,.2f} EUR" in page


def test_lists_show_the_period_by_days_of_the_tenant(world: World, as_: As) -> None:
    Tenant.objects.filter(pk=world.tenant.pk).update(billing_time_zone="Europe/Berlin")
    ends = datetime(2026, 9, 30, 22, tzinfo=UTC), datetime(2026, 10, 31, 23, tzinfo=UTC)
    Invoice.objects.create(tenant=world.tenant, starts_at=ends[0], ends_at=ends[1])

    own = as_(world.billing).get(LIST).content.decode()
    of_staff = as_(world.staff).get("/staff/invoices/").content.decode()

    assert "1 Oct 2026 \N{EN DASH} 1 Nov 2026" in own
    assert "1 Oct 2026 \N{EN DASH} 1 Nov 2026" in of_staff


def test_the_list_says_what_credit_pays_the_next_invoices(world: World, as_: As) -> None:
    owed = {posting.credit("waypost"): -41650, posting.revenue("messages"): 41650}
    posting.post(posting.Booking("x", world.tenant.id, "EUR", "", owed), at=timezone.now())

    page = as_(world.billing).get(LIST).content.decode()

    assert "You have a credit of <strong>416.50 EUR</strong>" in page


def test_without_an_invoice_the_list_says_when_there_will_be_one(world: World, as_: As) -> None:
    assert "No invoice yet" in as_(world.billing).get(LIST).content.decode()


def test_an_invoice_shows_parties_lines_quality_and_how_to_recompute(
    world: World, invoice: Invoice, as_: As
) -> None:
    page = as_(world.billing).get(f"{LIST}{invoice.number}/").content.decode()

    for words in ("Acme Shipping Ltd", "Messages, in and out", "7 used, 5 included",
                  "every sample of this period arrived", "bronze.samples version 7",
                  f"waypost invoices verify {invoice.number}", "History"):  # fmt: skip
        assert words in page


def test_the_preview_says_that_it_is_none(world: World, as_: As) -> None:
    page = as_(world.billing).get(LIST + "preview").content.decode()

    assert "A preview, not an invoice" in page
    assert "Not issued" in page
    assert "Recompute" not in page


def test_files_are_the_invoice(world: World, invoice: Invoice, as_: As) -> None:
    client, url = as_(world.billing), f"{LIST}{invoice.id}/file."

    lines = list(csv.DictReader(io.StringIO(client.get(url + "csv").content.decode())))
    text = client.get(url + "json")
    pdf = client.get(url + "pdf")

    assert sum(int(line["amount_minor"]) for line in lines) == invoice.net_minor
    assert text.content.decode() == invoice.document
    assert json.loads(text.content)["number"] == invoice.number
    assert pdf.content.startswith(b"%PDF-")
    assert pdf["Content-Disposition"] == f'attachment; filename="{invoice.number}.pdf"'


def test_a_file_of_another_kind_or_of_an_open_period_is_not_there(world: World, as_: As) -> None:
    closing = rows.closing(world.tenant)
    client = as_(world.billing)

    kinds = [client.get(f"{LIST}{closing.id}/file.{kind}").status_code for kind in ("pdf", "exe")]

    assert kinds == [404, 404]


def test_an_invoice_that_is_being_closed_says_so(world: World, as_: As) -> None:
    closing = rows.closing(world.tenant)

    page = as_(world.billing).get(f"{LIST}{closing.id}/").content.decode()

    assert "Not computed yet" in page


def test_the_operator_reads_why_an_invoice_is_held_and_the_tenant_what_to_do(
    world: World, as_: As
) -> None:
    held = rows.held(world.tenant)

    theirs = as_(world.staff).get(f"/staff/invoices/{held.id}/").content.decode()
    page = as_(world.billing).get(f"{LIST}{held.id}/").content.decode()

    assert held.held_reasons
    for reason in held.held_reasons:
        assert reason["code"] in theirs
        assert reason["code"] not in page
    assert "This invoice waits for your billing details" in page
    assert "In preparation" in page


def test_a_tenant_reads_nothing_of_the_operator_in_the_history_of_an_invoice(
    world: World, invoice: Invoice, as_: As
) -> None:
    page = as_(world.billing).get(f"{LIST}{invoice.id}/").content.decode()
    theirs = as_(world.staff).get(f"/staff/invoices/{invoice.id}/").content.decode()

    for internal in ("close validation", "approved", rows.STAFF.name):
        assert internal in theirs
        assert internal not in page
    assert "<td>Issued</td>" in page


def test_another_tenants_invoice_is_not_there_by_id_or_number(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, theirs = as_(world.outsider), "/t/other-people/invoices/"

    statuses = [
        client.get(f"{theirs}{name}/{tail}").status_code
        for name in (invoice.id, invoice.number)
        for tail in ("", "file.pdf")
    ]

    assert statuses == [404] * 4


def test_a_proof_is_asked_for_and_its_outcome_shown(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.billing), f"{LIST}{invoice.id}/"

    client.post(url + "verify")
    asked = Operation.objects.get(kind="invoice.verify", subject_id=invoice.id)
    before = client.get(url).content.decode()
    operations.succeed(asked.subject_type, invoice.id, up_to_generation=asked.target_generation)
    after = client.get(url).content.decode()

    assert "Being recomputed" in before
    assert "Same, byte for byte" in after


def test_the_list_takes_as_many_queries_for_one_invoice_as_for_many(
    world: World, invoice: Invoice, as_: As
) -> None:
    client = as_(world.billing)
    client.get(LIST)

    with CaptureQueriesContext(connection) as one:
        client.get(LIST)
    month = rows.last_month()
    for number in range(1, 5):
        starts_at = month.starts_at.replace(year=month.starts_at.year - number)
        ends_at = starts_at.replace(day=2)
        Invoice.objects.create(tenant=world.tenant, starts_at=starts_at, ends_at=ends_at)
    with CaptureQueriesContext(connection) as many:
        client.get(LIST)

    assert len(many) == len(one)


def test_staff_release_a_held_invoice_with_a_reason(
    world: World, invoice: Invoice, as_: As
) -> None:
    held = Invoice.objects.create(
        tenant=world.tenant,
        starts_at=datetime(2025, 1, 1, tzinfo=UTC),
        ends_at=datetime(2025, 2, 1, tzinfo=UTC),
        state=Invoice.State.HELD,
        held_reasons=[{"code": "samples.none", "message": "Space main has no sample."}],
    )
    page = f"/staff/invoices/{held.pk}/"
    staff = as_(world.staff)
    assert f'action="{page}release"' in staff.get(page).content.decode()

    empty = staff.post(f"{page}release", {"reason": " "})
    held.refresh_from_db()
    before = held.state
    done = staff.post(f"{page}release", {"reason": "The disk is destroyed."})

    held.refresh_from_db()
    assert (empty.status_code, before) == (400, Invoice.State.HELD)
    assert (done.status_code, held.state) == (302, Invoice.State.CLOSING)
    assert [row["because"] for row in held.releases] == ["The disk is destroyed."]


def test_a_reason_that_must_be_corrected_offers_no_release(
    world: World, invoice: Invoice, as_: As
) -> None:
    held = Invoice.objects.create(
        tenant=world.tenant,
        starts_at=datetime(2025, 1, 1, tzinfo=UTC),
        ends_at=datetime(2025, 2, 1, tzinfo=UTC),
        state=Invoice.State.HELD,
        held_reasons=[{"code": "samples.two_values", "message": "Restore the file."}],
    )

    page = as_(world.staff).get(f"/staff/invoices/{held.pk}/").content.decode()

    assert "Close again" in page
    assert "/release" not in page
