"""Pages of close runs: list, start, progress, totals, held by reason, approve and issue all."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from controlplane.core.models import AuditEvent
from plans.invoicing import close_runs
from plans.models import CloseRun, CloseRunInvoice, Invoice
from tenants.models import Tenant
from tests.suites.portal.conftest import As
from tests.support.plans import billing_rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
LIST = "/staff/close-runs/"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def held(tenant: Tenant, months_ago: int = 0) -> Invoice:
    starts_at = LONG_AGO - timedelta(days=31 * months_ago)
    return Invoice.objects.create(
        tenant=tenant,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=31),
        state=Invoice.State.HELD,
        held_reasons=[{"code": "billing_details.missing", "message": "Fill in the country."}],
    )


@pytest.fixture
def run(world: World) -> CloseRun:
    """An ended run with two drafts and a held invoice."""
    now = timezone.now()
    run = CloseRun.objects.create(requested_by="user:ops@waypost.example", finished_at=now)
    drafts = [billing_rows.drafted(billing_rows.tenant()) for _ in range(2)]
    for invoice in (*drafts, held(world.tenant)):
        CloseRunInvoice.objects.create(run=run, invoice=invoice, done_at=now)
    return run


def test_a_run_shows_totals_and_held_invoices_by_reason(
    world: World, run: CloseRun, as_: As
) -> None:
    staff = as_(world.staff)

    listed = staff.get(LIST).content.decode()
    page = staff.get(f"{LIST}{run.id}/").content.decode()
    of_reason = staff.get(f"{LIST}{run.id}/?reason=billing_details.missing").content.decode()

    assert f'href="{LIST}{run.id}/"' in listed
    assert "Approve 2 drafts" in page
    assert "116.62" in page  # two fees of 49.00 with 19 %
    assert "Fill in the country." in page
    assert of_reason.count('data-label="Tenant"') == 1
    assert 'hx-trigger="every 2s"' not in page, "an ended run is not asked again"


def test_a_running_run_shows_its_progress_and_what_it_waits_for(world: World, as_: As) -> None:
    run = CloseRun.objects.create(requested_by="system", step="pipeline", message="no room")
    CloseRunInvoice.objects.create(run=run, invoice=held(world.tenant))

    page = as_(world.staff).get(f"{LIST}{run.id}/").content.decode()

    assert 'hx-trigger="every 2s"' in page
    assert "Waits: no room" in page
    assert 'aria-current="step">Compute usage' in page
    assert "0 of 1 invoices" in page


def test_all_drafts_are_approved_and_issued_after_a_question(
    world: World, run: CloseRun, as_: As
) -> None:
    staff = as_(world.staff)
    asked = staff.get(f"{LIST}{run.id}/approve").content.decode()

    approved = staff.post(f"{LIST}{run.id}/approve", {"reason": "read"})
    running = staff.get(f"{LIST}{run.id}/").content.decode()
    for action in close_runs.running_actions():
        close_runs.carry_out(action)
    staff.post(f"{LIST}{run.id}/issue")
    for action in close_runs.running_actions():
        close_runs.carry_out(action)
    ended = staff.get(f"{LIST}{run.id}/").content.decode()

    assert "2 invoices. Close validation found no problem" in asked
    assert approved.status_code == 302
    assert "0 of 2" in running
    assert "2 of 2" in ended
    assert Invoice.objects.filter(number__isnull=False).count() == 2
    assert AuditEvent.objects.get(action="close_run.approve").reason == "read"


def test_a_run_without_a_draft_refuses_and_says_why(world: World, as_: As) -> None:
    run = CloseRun.objects.create(requested_by="system", finished_at=timezone.now())

    page = as_(world.staff).post(f"{LIST}{run.id}/approve", {"reason": ""})

    assert page.status_code == 409
    assert "No invoice of this run is draft" in page.content.decode()


def test_staff_start_a_run_and_learn_that_nothing_is_due(world: World, as_: As) -> None:
    staff = as_(world.staff)

    nothing = staff.post(f"{LIST}start", {"what": "held"})
    held(world.tenant)
    started = staff.post(f"{LIST}start", {"what": "held"})

    assert "No invoice is held." in nothing.content.decode()
    assert started.status_code == 302
    run = CloseRun.objects.get()
    assert (run.again, run.skip_grace) == (True, False)
    assert started["Location"] == f"{LIST}{run.id}/"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("due", "No period is due. To close periods that are over before their grace period ends"),
        ("over", "No period has ended. To end a running period, close it for the tenant:"),
    ],
)
def test_a_refused_start_says_what_else_to_do(world: World, as_: As, what: str, words: str) -> None:
    page = as_(world.staff).post(f"{LIST}start", {"what": what})

    assert page.status_code == 409
    assert words in page.content.decode()
    assert "skip_grace" not in page.content.decode()


def test_an_empty_list_says_when_the_first_run_begins(world: World, as_: As) -> None:
    assert "No run yet." in as_(world.staff).get(LIST).content.decode()


@pytest.mark.parametrize("path", ["", "start", "{run}/", "{run}/approve", "{run}/issue"])
def test_members_of_a_tenant_see_no_run(world: World, run: CloseRun, as_: As, path: str) -> None:
    answer = as_(world.owner).get(LIST + path.format(run=run.id))

    assert answer.status_code in {403, 404}
