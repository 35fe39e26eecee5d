"""The operator area: tenants and their limits, invoice runs, the fleet."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.core.models import AuditEvent
from plans.invoicing import open_periods
from plans.models import Invoice, Payment, QuotaOverride
from tenants import admission
from tenants.actions import tenants
from tenants.models import AddressSpace
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
TENANT = "/staff/tenants/acme-shipping/"


def test_tenants_are_found_by_a_part_of_their_name(world: World, as_: As) -> None:
    client = as_(world.staff)

    every = client.get("/staff/tenants/").content.decode()
    some = client.get("/staff/tenants/?q=acme").content.decode()
    none = client.get("/staff/tenants/?q=zzz").content.decode()

    assert "Acme Shipping" in every
    assert "Other People" in every
    assert "Acme Shipping" in some
    assert "Other People" not in some
    assert "No tenant matches “zzz”" in none


def test_counts_of_a_tenant_do_not_multiply_each_other(world: World, as_: As) -> None:
    for name in ("one", "two"):
        rows.space(world.tenant, name)

    page = as_(world.staff).get("/staff/tenants/?q=acme").content.decode()

    assert 'data-label="Spaces" class="number">2<' in page
    assert 'data-label="Members" class="number">3<' in page


def test_an_override_is_set_shown_and_cleared(world: World, as_: As) -> None:
    client = as_(world.staff)
    day = (timezone.now() + timedelta(days=9)).date()
    asked = {"resource": "spaces", "amount": "9", "reason": "a pilot", "expires_on": day}

    client.post(TENANT, asked)
    raised, page = admission.limits(world.tenant)["spaces"], client.get(TENANT).content.decode()
    client.post(TENANT + "overrides/spaces/clear")

    assert raised == 9
    assert "a pilot" in page
    assert admission.limits(world.tenant)["spaces"] == 5
    event = AuditEvent.objects.get(action="quota_override.set")
    assert (event.actor, event.reason) == ("user:staff@operator.example", "a pilot")


@pytest.mark.parametrize(
    "wrong",
    [
        {"resource": "moons"},
        {"amount": "-1"},
        {"reason": "  "},
        {"expires_on": "2020-01-01"},  # the only one that the form cannot see itself
    ],
)
def test_a_wrong_override_is_refused_and_changes_nothing(
    world: World, as_: As, wrong: dict[str, str]
) -> None:
    asked = {"resource": "spaces", "amount": "9", "reason": "a pilot", **wrong}

    answer = as_(world.staff).post(TENANT, asked)

    assert answer.status_code == (422 if "expires_on" in wrong else 400)
    assert not QuotaOverride.objects.exists()


def test_close_now_asks_first_and_says_that_the_month_is_split(world: World, as_: As) -> None:
    staff = as_(world.staff)

    asked = staff.get(TENANT + "close").content.decode()

    assert f'href="{TENANT}close"' in staff.get(TENANT).content.decode()
    assert "splits it into two invoices" in asked
    assert not Invoice.objects.exists()


def test_a_refused_close_says_why_on_the_page_that_asked(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_periods, "has_a_second", lambda *_: False)

    refused = as_(world.staff).post(TENANT + "close")

    assert refused.status_code == 409
    assert "splits it into two invoices" in refused.content.decode()
    assert "try again in a second" in refused.content.decode()


def test_close_now_closes_the_running_period(world: World, as_: As) -> None:
    answer = as_(world.staff).post(TENANT + "close")

    invoice = Invoice.objects.get(tenant=world.tenant)
    assert invoice.state == "closing"
    assert answer["Location"] == f"/staff/invoices/{invoice.id}/"
    assert invoice.events.get().actor == "user:staff@operator.example"


def test_an_invoice_goes_from_draft_to_paid_through_its_page(world: World, as_: As) -> None:
    invoice, client = rows.drafted(world.tenant), as_(world.staff)
    url, states = f"/staff/invoices/{invoice.id}/", []
    payment = {"reference": "bank-1", "received_on": "2026-11-20"}

    for step, values in (
        ("approve", {"reason": "read it"}),
        ("issue", {}),
        ("pay", {**payment, "amount": "10.00"}),
        ("pay", {**payment, "reference": "bank-2", "amount": str(invoice.total_minor / 100 - 10)}),
    ):
        assert f"{url}{step}" in client.get(url).content.decode()
        client.post(url + step, values)
        invoice.refresh_from_db()
        states.append(invoice.state)

    assert states == ["approved", "issued", "partly_paid", "paid"]
    assert [p.amount_minor for p in invoice.payments.order_by("id")] == [
        1000, invoice.total_minor - 1000,
    ]  # fmt: skip
    page = client.get(url).content.decode()
    assert f"{url}pay" not in page
    assert f"{url}credit" in page  # what was paid can only be taken back


@pytest.mark.parametrize(
    ("amount", "words", "status"),
    [
        ("0", "Enter a positive amount", 400),
        ("1.005", "at most 2 decimals", 400),
        ("1000000", "payment.exceeds_invoice", 409),
    ],
)
def test_a_wrong_payment_is_refused_in_words(
    world: World, as_: As, amount: str, words: str, status: int
) -> None:
    invoice = rows.issued(world.tenant)
    asked = {"reference": "bank-1", "received_on": "2026-11-20", "amount": amount}

    answer = as_(world.staff).post(f"/staff/invoices/{invoice.id}/pay", asked)

    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not Payment.objects.exists()


def test_a_refused_form_is_shown_only_by_its_own_action(world: World, as_: As) -> None:
    """Another operator may have changed the invoice since the page was opened."""
    invoice, client = rows.issued(world.tenant), as_(world.staff)

    page = client.post(f"/staff/invoices/{invoice.id}/approve", {"reason": ""}).content.decode()

    assert "Record payment" in page
    assert 'name="amount"' in page
    assert f"/staff/invoices/{invoice.id}/approve" not in page
    assert "This field is required" not in page  # of the form that was sent


@pytest.mark.parametrize("step", ["void", "write-off"])
def test_a_final_step_without_a_reason_says_what_is_missing(
    world: World, as_: As, step: str
) -> None:
    invoice, client = rows.issued(world.tenant), as_(world.staff)
    Invoice.objects.filter(pk=invoice.pk).update(state="overdue")

    answer = client.post(f"/staff/invoices/{invoice.id}/{step}", {"reason": ""})

    page = answer.content.decode()
    assert answer.status_code == 400
    form = page[page.index(f"/staff/invoices/{invoice.id}/{step}") :]
    assert "This field is required" in form[: form.index("</form>")]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_an_arrow_that_does_not_exist_is_refused_in_words(world: World, as_: As) -> None:
    invoice = rows.drafted(world.tenant)

    answer = as_(world.staff).post(f"/staff/invoices/{invoice.id}/issue")

    assert answer.status_code == 409
    assert "invoice.wrong_state" in answer.content.decode()


def test_held_invoices_are_listed_with_reasons_and_closed_again(world: World, as_: As) -> None:
    held, client = rows.held(world.other), as_(world.staff)

    rows.issued(world.tenant)
    page = client.get("/staff/invoices/?state=held").content.decode()
    every = client.get("/staff/invoices/").content.decode()
    client.post(f"/staff/invoices/{held.id}/close")

    assert "Held (1)" in page
    assert "Acme Shipping" not in page
    assert every.index("Other People") < every.index("Acme Shipping")
    assert held.held_reasons[0]["message"].split("'")[0] in page
    held.refresh_from_db()
    assert held.state == "closing"


def test_the_fleet_shows_trouble_first_with_reasons(world: World, as_: As) -> None:
    rows.active_space(world.tenant, "fine")
    failing = rows.space(world.other, "failing")
    trouble = {
        "type": "Ready",
        "status": "False",
        "reason": "NoDisk",
        "message": "full",
        "since": "",
    }
    AddressSpace.objects.filter(pk=failing.pk).update(phase="Failed", conditions=[trouble])

    page = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "No disk: full" in page
    assert page.index(">failing</a>") < page.index(">fine</a>")
    assert "1 space has changes that are not applied yet" in page


@pytest.mark.parametrize("path", ["tenants/", "invoices/", "fleet/"])
def test_lists_take_as_many_queries_for_few_rows_as_for_many(
    world: World, as_: As, path: str
) -> None:
    client = as_(world.staff)
    rows.space(world.tenant, "first")
    rows.closing(world.tenant)
    client.get("/staff/" + path)

    with CaptureQueriesContext(connection) as few:
        client.get("/staff/" + path)
    for number in range(4):
        more = tenants.sign_up(
            email=f"p{number}@x.example", password=rows.PASSWORD, organization=f"More {number}"
        )
        rows.space(more.tenant, "first")
        rows.closing(more.tenant)
    with CaptureQueriesContext(connection) as many:
        client.get("/staff/" + path)

    assert len(many) == len(few)
