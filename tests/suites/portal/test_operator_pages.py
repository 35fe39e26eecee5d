"""The operator's fleet with its filter, one space, health, revenue, volumes, audit and search."""

import json
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from controlplane.console import revenue_reads
from controlplane.core.models import AuditEvent
from controlplane.core.reasons import Reason
from plans.models import Invoice, Payment
from plans.rating import periods
from tenants.models import AddressSpace, EngineRelease, KeptVolumes, SpaceSecret, Tenant
from tests.suites.portal.conftest import As
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(world: World) -> dict[str, AddressSpace]:
    """Three spaces: one on an old release, one failed and unapplied, one that does not answer."""
    old, new = (EngineRelease.objects.create(number=n, broker_image=f"broker:{n}") for n in (1, 2))
    found = {
        "old": rows.active_space(world.tenant, "old"),
        "failed": rows.space(world.other, "failed", "brokered-small"),
        "silent": rows.active_space(world.other, "silent"),
    }
    ready = {
        "type": "Ready",
        "status": "False",
        "reason": str(Reason.BROKER_DOWN),
        "message": "broker-0 is down",
        "since": "2026-11-01T00:00:00Z",
    }
    soon = timezone.now() + timedelta(days=3)
    for name, ends_at in (("old", soon), ("silent", soon + timedelta(days=9))):
        SpaceSecret.objects.create(space=found[name], name="tls", expires_at=ends_at)
    change = AddressSpace.objects.filter
    change(pk=found["old"].pk).update(observed_release=old)
    change(pk=found["failed"].pk).update(phase="Failed", attempts=3, conditions=[ready])
    change(pk=found["silent"].pk).update(observed_release=new, silent_since=timezone.now())
    return found


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, {"failed", "old", "silent"}),
        ({"q": "acme"}, {"old"}),
        ({"q": "fail"}, {"failed"}),
        ({"state": "Failed"}, {"failed"}),
        ({"state": "unapplied"}, {"failed"}),
        ({"state": "silent"}, {"silent"}),
        ({"state": "ending"}, {"old"}),
        ({"plan": "brokered-small"}, {"failed"}),
        ({"release": "1"}, {"old"}),
        ({"release": "none"}, {"failed"}),
        ({"release": "nonsense"}, {"failed", "old", "silent"}),
    ],
)
def test_the_fleet_is_filtered(
    world: World, as_: As, fleet: dict[str, AddressSpace], query: dict[str, str], names: set[str]
) -> None:
    page = as_(world.staff).get("/staff/fleet/", query).content.decode()

    assert {name for name, space in fleet.items() if f"/fleet/spaces/{space.pk}/" in page} == names


def test_a_space_says_what_is_wrong_what_to_do_and_is_tried_again(
    world: World, as_: As, fleet: dict[str, AddressSpace], settings: Settings
) -> None:
    settings.INFRA = "kubernetes"
    space, staff = fleet["failed"], as_(world.staff)
    url = f"/staff/fleet/spaces/{space.pk}/"

    page = staff.get(url).content.decode()
    answer = staff.post(url + "retry")

    assert "broker-0 is down" in page
    assert "Look at the pod" in page
    assert "0 of 1 are applied" in page
    assert answer["Location"] == url
    space.refresh_from_db()
    assert (space.attempts, space.last_full_pass_at) == (0, None)
    assert space.next_attempt_at is not None
    assert AuditEvent.objects.get(action="address_space.retry").subject_id == space.pk


def test_on_one_machine_a_space_names_a_file_and_no_pod(
    world: World, as_: As, fleet: dict[str, AddressSpace], settings: Settings
) -> None:
    settings.INFRA = "local"
    page = as_(world.staff).get(f"/staff/fleet/spaces/{fleet['failed'].pk}/").content.decode()

    assert "Read the file output.log of the instance" in page
    assert "kubectl" not in page
    assert "namespace" not in page


def test_an_installation_without_trouble_needs_nobody(
    world: World, as_: As, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_HOST = "smtp.example"
    monkeypatch.setattr("controlplane.core.reachability.queue_answers", lambda url: True)

    page = as_(world.staff).get("/staff/health/").content.decode()

    assert "Nothing needs you." in page
    assert "Act now" not in page


def test_health_names_trouble_first_and_says_what_to_do(
    world: World, as_: As, fleet: dict[str, AddressSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controlplane.core.reachability.queue_answers", lambda url: False)
    long_ago = timezone.now() - timedelta(hours=2)
    AddressSpace.objects.filter(pk=fleet["failed"].pk).update(updated_at=long_ago)
    rows.held(world.other)

    page = as_(world.staff).get("/staff/health/").content.decode()

    for words in (
        "Start Redis, and check WAYPOST_REDIS_URL.",
        "1 space with changes that are not applied, the oldest for 120 minutes.",
        "1 space failed, 1 with a broker or router that does not answer.",
        "Usage is missing, although spaces are metered.",
        "1 invoice held.",
        "Set WAYPOST_SMTP_HOST: ",
    ):
        assert words in page
    assert page.index("Act now") < page.index("Look soon") < page.index(">Good<")


def test_revenue_is_that_of_issued_invoices(world: World, as_: As) -> None:
    invoice = rows.issued(world.tenant)
    rows.held(world.other)

    page = as_(world.staff).get("/staff/revenue/").content.decode()

    month = rows.last_month().starts_at
    assert f"{month:%B %Y}" in page
    assert f"{invoice.net_minor / 100:,.2f}" in page
    assert ">Acme Shipping</a>" in page
    assert ">Other People</a>" not in page
    assert "before discounts, minimums, usage and tax" in page


def billed(tenant: Tenant, month: str, zone: str, currency: str = "EUR") -> None:
    """Store an issued invoice of a month, such as ``2026-11``, in a billing time zone."""
    period = periods.month_of(datetime.fromisoformat(f"{month}-15T12:00+00:00"), zone)
    Invoice.objects.create(
        tenant=tenant,
        starts_at=period.starts_at,
        ends_at=period.ends_at,
        state=Invoice.State.ISSUED,
        number=f"{tenant.slug}-{month}-{currency}",
        currency=currency,
        net_minor=100,
        total_minor=100,
        document=json.dumps({"period": {"time_zone": zone}}),
    )


def test_revenue_is_under_the_month_of_the_invoices_time_zone(world: World) -> None:
    billed(world.tenant, "2026-11", "Europe/Berlin")
    billed(world.other, "2026-11", "America/New_York")
    billed(world.other, "2026-10", "UTC")

    found = revenue_reads.by_month()

    assert [(f"{one.month:%Y-%m}", one.n_invoices, one.net_minor) for one in found] == [
        ("2026-11", 2, 200),
        ("2026-10", 1, 100),
    ]


def test_revenue_shows_what_was_written_off_apart_from_what_is_due(world: World, as_: As) -> None:
    billed(world.tenant, "2026-11", "UTC")
    billed(world.other, "2026-11", "UTC")
    lost = Invoice.objects.filter(tenant=world.other)
    lost.update(state=Invoice.State.UNCOLLECTIBLE)
    Payment.objects.create(
        invoice=lost.get(), source="manual", reference="late", amount_minor=30,
        recorded_by="staff", received_on="2026-12-30",
    )  # fmt: skip

    (month,) = revenue_reads.by_month()
    page = as_(world.staff).get("/staff/revenue/").content.decode()

    assert (month.n_invoices, month.net_minor) == (2, 200)
    assert (month.outstanding_minor, month.written_off_minor) == (100, 70)
    assert 'data-label="Written off" class="number">0.70 EUR</td>' in page


def test_revenue_has_24_months_also_with_several_currencies(world: World) -> None:
    months = [f"{year}-{month:02}" for year in (2024, 2025, 2026) for month in range(1, 13)]
    for month in months:
        billed(world.tenant, month, "Europe/Berlin")
        billed(world.other, month, "Pacific/Auckland", "NZD")

    found = revenue_reads.by_month()

    assert [f"{one.month:%Y-%m}" for one in found[::2]] == months[:-25:-1]
    assert [one.currency for one in found] == ["EUR", "NZD"] * 24


def test_kept_volumes_are_released_after_a_question(world: World, as_: As) -> None:
    space, staff = rows.active_space(world.tenant, "gone"), as_(world.staff)
    now = timezone.now()
    AddressSpace.objects.filter(pk=space.pk).update(deletion_requested_at=now, deleted_at=now)
    kept = KeptVolumes.objects.create(space=space)
    url = f"/staff/volumes/{space.pk}/release"

    listed = staff.get("/staff/volumes/").content.decode()
    question = staff.get(url).content.decode()
    kept.refresh_from_db()
    before = kept.released_at
    staff.post(url)

    assert url in listed
    assert "are lost for ever" in question
    kept.refresh_from_db()
    assert before is None
    assert kept.released_at is not None


def test_staff_read_the_audit_events_of_all_tenants(world: World, as_: As) -> None:
    staff = as_(world.staff)

    every = staff.get("/staff/audit/").content.decode()
    some = staff.get("/staff/audit/", {"q": "oscar@other.example"}).content.decode()

    assert "Created the organization Acme Shipping" in every
    assert "Created the organization Other People" in every
    assert "Created the organization Other People" in some
    assert "Created the organization Acme Shipping" not in some


def test_staff_find_tenants_spaces_people_and_invoices(
    world: World, as_: As, fleet: dict[str, AddressSpace]
) -> None:
    number, staff = str(rows.issued(world.tenant).number), as_(world.staff)
    looked = {"acme": "olga@acme.example", "silent": "of Other People", number: number}

    for text, words in looked.items():
        page = staff.get("/staff/search", {"q": text}).content.decode()
        assert words in page
    part = staff.get("/staff/search", {"q": "acme"}, headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert b"olga@acme.example" in part.content


@pytest.mark.parametrize("path", ["audit/", "health/", "revenue/", "search?q=a", "volumes/"])
def test_pages_take_as_many_queries_for_many_rows(world: World, as_: As, path: str) -> None:
    staff = as_(world.staff)
    KeptVolumes.objects.create(space=rows.active_space(world.tenant, "a-first"))
    staff.get("/staff/" + path)
    with CaptureQueriesContext(connection) as few:
        staff.get("/staff/" + path)
    for number in range(3):
        KeptVolumes.objects.create(space=rows.active_space(world.other, f"a-{number}"))
    with CaptureQueriesContext(connection) as many:
        staff.get("/staff/" + path)

    assert len(many) == len(few)


def test_the_alarms_of_all_addresses_are_listed_raised_ones_first(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    quiet, loud = rows.address(space, "quiet"), rows.address(space, "zz-loud")
    notified.alarm(quiet)
    notified.alarm(loud, raised_at=timezone.now(), last_value=200)
    notified.alarm(rows.address(rows.active_space(world.other), "secret"))

    page = as_(world.member).get("/t/acme-shipping/alarms/").content.decode()

    assert "1 alarm is raised." in page
    assert page.index("zz-loud") < page.index("quiet")
    assert "secret" not in page
