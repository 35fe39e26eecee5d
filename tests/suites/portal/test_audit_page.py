"""The audit log in plain words, with filter, search and export."""

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.accounts import login_audit
from controlplane.console import audit_kinds, audit_reads
from controlplane.console.audit_reads import AuditFilter
from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.models import AuditEvent
from plans.exports import account_codes
from plans.invoicing import discounting
from plans.payments import dunning
from tenants.actions import (
    alarms,
    api_tokens,
    connections,
    identity_providers,
    invitations,
    message_requests,
    notification_channels,
    plan_subscriptions,
    quota_overrides,
    rollouts,
    tax_details,
    tenant_notes,
)
from tenants.models import EngineRelease
from tests.suites.portal.conftest import As
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
URL = "/t/acme-shipping/audit/"


@pytest.fixture
def busy(world: World) -> World:
    """A tenant in which a member and an operator acted."""
    space = rows.space(world.tenant, "orders")
    subject = audit.Subject("address", "adr_1", "=cmd", world.tenant.pk)
    audit.record(Actor("user:dev@acme.example", "192.0.2.7"), "address.create", subject)
    theirs = audit.Subject("tenant", world.tenant.pk, "acme", world.tenant.pk)
    audit.record(
        Actor("user:staff@operator.example", "198.51.100.9"),
        "quota_override.set",
        theirs,
        reason="they shouted at sales",
    )
    assert space.pk
    return world


def test_events_read_as_sentences_and_reveal_no_operator(busy: World, as_: As) -> None:
    client = as_(busy.owner)

    page = client.get(URL).content.decode()
    files = [b"".join(client.get(f"{URL}events.{kind}")).decode() for kind in ("csv", "jsonl")]

    for text in [page, *files]:
        assert "Created the space orders" in text
        assert "dev@acme.example" in text
        assert "192.0.2.7" in text
        assert "The operator" in text
        for private in ("staff@operator", "198.51.100.9", "shouted"):
            assert private not in text


@pytest.mark.parametrize(
    ("query", "hit", "miss"),
    [
        ("q=orders", "space orders", "=cmd"),
        ("q=dev@", "=cmd", "space orders"),
        ("kind=address", "=cmd", "space orders"),
        ("kind=limit", "Set a limit", "space orders"),
        ("q=staff@", "Nothing matches", "The operator"),
    ],
)
def test_events_are_found_by_name_member_and_kind(
    busy: World, as_: As, query: str, hit: str, miss: str
) -> None:
    page = as_(busy.owner).get(f"{URL}?{query}").content.decode()

    assert hit in page
    assert miss not in page


@pytest.mark.parametrize("query", ["since=2026-13-01", "until=yesterday", "kind=none-such"])
def test_an_export_with_a_wrong_filter_says_so(busy: World, as_: As, query: str) -> None:
    answer = as_(busy.owner).get(f"{URL}events.csv?{query}")

    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'data-code="audit.filter"' in page
    assert "valid" in page


@pytest.fixture
def eventful(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A tenant and an installation with an event of every kind, each recorded by its action."""
    monkeypatch.setattr(enqueue, "after_commit", lambda *_, **__: None)
    monkeypatch.setattr(notification_channels, "_label", lambda _: "https://hooks.example")
    tenant, by = world.tenant, Actor("user:olga@acme.example")
    space = rows.active_space(tenant, "orders")
    queue = rows.address(space, "invoices")
    user = rows.messaging_user(space)
    message_requests.send(address=queue, body="hello", by=by)
    connections.close(space=space, user=user.name, by=by)
    alarms.create(address=queue, metric="depth", limits=alarms.Limits(100), by=by)
    target = notification_channels.Target("webhook", notified.URL)
    notification_channels.create(tenant=tenant, name="hook", target=target, kinds=[], by=by)
    invitations.invite(tenant=tenant, email="new@acme.example", role="viewer", by=by)
    wish = identity_providers.Wish(
        "https://login.acme.example", "waypost", "secret", ["acme.example"], default_role=""
    )
    identity_providers.save(tenant=tenant, wish=wish, by=by)
    api_tokens.issue(tenant=tenant, name="ci", role="viewer", expires_at=None, by=by)
    limit: dict[str, Any] = {
        "resource": "spaces",
        "amount": 9,
        "reason": "test",
        "expires_at": None,
    }
    quota_overrides.set_override(tenant=tenant, by=rows.STAFF, **limit)
    rows.issued(tenant)
    plan_subscriptions.change(tenant=tenant, plan_key="business", by=by)
    half = discounting.Reduction("Launch", percent=Decimal(50))
    discounting.give(tenant=tenant, reduction=half, by=rows.STAFF)
    made = tenant_notes.write(tenant=tenant, text="They called.", by=rows.STAFF)
    tenant_notes.delete(tenant=tenant, note_id=made.pk, by=rows.STAFF)
    release = EngineRelease.objects.create(number=2, broker_image="broker:2")
    rollouts.begin(release=release, former=None, is_configured=True, by=rows.STAFF)
    login_audit.record("login.succeed", world.owner, None)
    now = timezone.now()
    tax = tax_details.Exemption("E", "C-1", "Exempt by law", now.date())
    tax_details.set_exemption(tenant=tenant, wanted=tax, by=rows.STAFF)
    account_codes.change(legal_entity="waypost", codes={"receivable": "1400"}, by=rows.STAFF)
    audit.record(rows.STAFF, "close_run.start", audit.Subject("close_run", "crn_one", "a run"))
    dunning.pause(tenant=tenant, reason="They called.", until=None, by=rows.STAFF, now=now)
    return world


def test_the_field_that_searches_everything_stays_empty(world: World, as_: As) -> None:
    for person, url in ((world.owner, URL), (world.staff, "/staff/audit/")):
        page = as_(person).get(f"{url}?q=orders").content.decode()

        assert "newest 50,000 events" in page
        field = page[page.index('id="search"') :]
        assert 'value=""' in field[: field.index(">")]


def test_every_choice_of_the_filter_finds_events_and_every_event_has_a_choice(
    eventful: World, as_: As
) -> None:
    found: Counter[int] = Counter()
    for slug, kind in audit_kinds.KINDS.items():
        events = audit_reads.find_all(AuditFilter(kind=slug))
        found.update(events.values_list("pk", flat=True))
        assert events.exists(), kind.title
        own = audit_reads.find(eventful.tenant, AuditFilter(kind=slug))
        assert own.exists() != kind.is_internal, kind.title
    assert found == Counter(AuditEvent.objects.values_list("pk", flat=True))


def test_members_are_offered_the_kinds_of_their_tenant_only(world: World, as_: As) -> None:
    theirs = as_(world.owner).get(URL).content.decode()
    all_kinds = as_(world.staff).get("/staff/audit/").content.decode()

    for slug, kind in audit_kinds.KINDS.items():
        option = f'<option value="{slug}">{kind.title}</option>'
        assert option in all_kinds
        assert (option in theirs) != kind.is_internal


def test_days_are_included_and_a_wrong_one_is_named_in_the_field(busy: World, as_: As) -> None:
    client, today = as_(busy.owner), timezone.now().date()

    same = client.get(URL, {"since": str(today), "until": str(today)}).content.decode()
    before = client.get(URL, {"until": str(today - timedelta(days=1))}).content.decode()
    wrong = client.get(URL, {"since": "banana"})

    assert "space orders" in same
    assert "Nothing matches" in before
    assert wrong.status_code == 400
    assert 'value="banana"' in wrong.content.decode()


def test_exports_hold_everything_the_filter_selects(busy: World, as_: As) -> None:
    client = as_(busy.owner)
    for number in range(60):
        subject = audit.Subject("address", str(number), f"a-{number}", busy.tenant.pk)
        audit.record(audit.WORKER, "address.delete", subject)

    lines = b"".join(client.get(f"{URL}events.jsonl?q=a-")).decode().splitlines()
    table = b"".join(client.get(f"{URL}events.csv")).decode()

    assert len(lines) == 60
    assert json.loads(lines[0])["what"] == "Deleted the address a-59"
    assert "Created the address '=cmd" in table or "Created the address =cmd" in table
    assert client.get(f"{URL}events.exe").status_code == 404


def test_the_page_takes_as_many_queries_for_many_events(busy: World, as_: As) -> None:
    client = as_(busy.owner)
    client.get(URL)
    with CaptureQueriesContext(connection) as few:
        client.get(URL)
    for number in range(30):
        subject = audit.Subject("address", str(number), f"a-{number}", busy.tenant.pk)
        audit.record(Actor(f"user:p{number}@acme.example"), "address.delete", subject)
    with CaptureQueriesContext(connection) as many:
        client.get(URL)

    assert len(many) == len(few)


EVENTS = "/api/v1/tenants/acme-shipping/audit-events"
PRIVATE = ("staff@operator", "gone@operator", "198.51.100.", "shouted")


def test_page_api_and_export_reveal_no_operator(busy: World, as_: As) -> None:
    subject = audit.Subject("tenant", busy.tenant.pk, "acme", busy.tenant.pk)
    audit.record(Actor("user:gone@operator.example", "198.51.100.8"), "tenant.restore", subject)
    client = as_(busy.owner)

    texts = [
        client.get(path).content.decode() for path in (URL, EVENTS, "/t/acme-shipping/export.json")
    ]

    for text in texts:
        assert not [private for private in PRIVATE if private in text]
        assert "dev@acme.example" in text
        assert "192.0.2.7" in text
    found = {(row["actor"], row["source_ip"]) for row in json.loads(texts[1])["items"]}
    assert {
        ("operator", ""),
        ("deleted-account", ""),
        ("user:dev@acme.example", "192.0.2.7"),
    } <= found
    exported = {(row["actor"], row["source_ip"]) for row in json.loads(texts[2])["audit"]}
    assert found <= exported


@pytest.mark.parametrize(
    ("actor", "actions"),
    [
        ("user:staff@operator.example", []),
        ("operator", ["quota_override.set"]),
        ("user:dev@acme.example", ["address.create"]),
    ],
)
def test_the_api_finds_by_the_actor_that_it_shows(
    busy: World, as_: As, actor: str, actions: list[str]
) -> None:
    found = as_(busy.owner).get(EVENTS, {"actor": actor}).json()["items"]

    assert [row["action"] for row in found] == actions
