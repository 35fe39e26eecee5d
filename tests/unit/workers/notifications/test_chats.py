"""What pagers get: one incident for what belongs together, and every event."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_django import Settings

from controlplane.core import outbound
from tenants.actions import notification_channels
from tenants.actions.notification_channels import Target
from tenants.notifications import chat_services, deliveries, outbox, routing
from tenants.notifications.chat_services import REGISTRY, ChatRefused
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Channel, Delivery
from tests.support import domain
from tests.support.notifications import receiver
from tests.support.notifications.receiver import Receiver
from workers.notifications import chats

NOW = datetime(2026, 12, 1, tzinfo=UTC)
# Apprise imports it.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")


@pytest.fixture
def pager(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Receiver]:
    """The host of both services is this machine; the plugins of the library run for real."""
    from apprise.plugins import opsgenie, pagerduty

    monkeypatch.setattr(outbound, "_lookup", lambda host, port: ["127.0.0.1"])
    settings.WEBHOOK_ALLOWED_RANGES = ("127.0.0.0/8",)
    with receiver.running() as running:
        running.status, running.body = 202, b'{"requestId": "1"}'
        for lookup in (opsgenie.OPSGENIE_API_LOOKUP, pagerduty.PAGERDUTY_API_LOOKUP):
            monkeypatch.setitem(lookup, "us", running.url)
        yield running


def channel(cast: domain.Cast, url: str) -> None:
    notification_channels.create(
        tenant=cast.tenant, name="pager", target=Target("chat", url), kinds=[], by=cast.by
    )


def sent(cast: domain.Cast, pager: Receiver, kind: str, key: str, **fields: Any) -> Any:
    """Let an event happen and return what the pager got of it; None: nothing."""
    pager.got.clear()
    values = {**BY_KEY[kind].sample, **fields}
    outbox.write(kind, tenant=cast.tenant, key=key, fields=values, now=NOW)
    routing.route(NOW)
    (found,) = (one for one in deliveries.claim(NOW, 100) if one.channel)
    outcome = chats.send(found)
    assert outcome.error == ""
    Delivery.objects.filter(pk=found.pk).update(state="delivered", ended_at=NOW)
    return json.loads(pager.got[0][1]) if pager.got else None


@pytest.mark.parametrize("kind", ["invoice.issued", "alarm.raised", "alarm.cleared"])
def test_opsgenie_gets_every_event(cast: domain.Cast, pager: Receiver, kind: str) -> None:
    """By itself the library adds a note to an alert that it does not know, and so sends nothing."""
    channel(cast, "opsgenie://a-key-of-the-service")

    got = sent(cast, pager, kind, "1")

    assert got is not None
    assert BY_KEY[kind].title.split()[0] in got["message"]


def test_pagerduty_gets_one_incident_that_ends(cast: domain.Cast, pager: Receiver) -> None:
    channel(cast, "pagerduty://integration-key@api-key")

    raised = sent(cast, pager, "alarm.raised", "1", alarm="alm_1")
    other = sent(cast, pager, "alarm.raised", "2", alarm="alm_2")
    cleared = sent(cast, pager, "alarm.cleared", "3", alarm="alm_1")
    issued = sent(cast, pager, "invoice.issued", "4")

    assert [one["event_action"] for one in (raised, other, cleared, issued)] == [
        "trigger",
        "trigger",
        "resolve",
        "trigger",
    ]
    assert raised["dedup_key"] == cleared["dedup_key"]
    assert len({one["dedup_key"] for one in (raised, other, issued)}) == 3


@pytest.mark.parametrize(
    ("url", "title", "host"),
    [
        ("pagerduty://integration-key@api-key", "PagerDuty (EU)", "events.eu.pagerduty.com"),
        ("opsgenie://a-key-of-the-service", "Opsgenie (EU)", "api.eu.opsgenie.com"),
    ],
)
def test_an_account_in_the_eu_is_reached_there(
    cast: domain.Cast,
    pager: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    title: str,
    host: str,
) -> None:
    """The library's own addresses of the EU lead to this receiver; those of the US to nothing."""
    from apprise.plugins import opsgenie, pagerduty

    resolved: list[str] = []

    def lookup(host: str, port: int) -> list[str]:
        resolved.append(host)
        return ["127.0.0.1"]

    monkeypatch.setattr(outbound, "_lookup", lookup)
    for addresses in (opsgenie.OPSGENIE_API_LOOKUP, pagerduty.PAGERDUTY_API_LOOKUP):
        monkeypatch.setitem(addresses, "us", "http://127.0.0.1:1/")
        monkeypatch.setitem(addresses, "eu", pager.url)
    channel(cast, f"{url}?region=eu")

    raised = sent(cast, pager, "alarm.raised", "1", alarm="alm_1")

    assert raised is not None
    assert resolved == [host, "127.0.0.1"]
    assert Channel.objects.get().label == title


def test_the_hosts_of_regions_are_those_of_the_library() -> None:
    from apprise.plugins import opsgenie, pagerduty

    lookups = {
        "pagerduty": pagerduty.PAGERDUTY_API_LOOKUP,
        "opsgenie": opsgenie.OPSGENIE_API_LOOKUP,
    }
    regional = {service.schema: service for service in REGISTRY if service.regions}
    assert set(regional) == set(lookups)
    for schema, lookup in lookups.items():
        service = regional[schema]
        ours = {"us": service.hosts[0], **service.regions}
        assert ours == {region: urlsplit(url).hostname for region, url in lookup.items()}


@pytest.mark.parametrize(
    "url",
    [
        "pagerduty://key@key?region=mars",
        "pagerduty://key@key?region=eu&dedup=x",
        "pagerduty://key@key?template=/etc/passwd",
        "slack://A/B/C?region=eu",
        "slack://A/B/C?region=us",
        "opsgenie://key?",
    ],
)
def test_another_query_is_refused(url: str) -> None:
    with pytest.raises(ChatRefused):
        chat_services.check(url)


def test_the_own_region_may_be_named() -> None:
    assert chat_services.check("opsgenie://key?region=US").title == "Opsgenie"


def test_a_repeated_attempt_makes_no_second_incident(cast: domain.Cast, pager: Receiver) -> None:
    channel(cast, "pagerduty://integration-key@api-key")
    outbox.write("token.expiring", tenant=cast.tenant, key="1", fields={}, now=NOW)
    routing.route(NOW)
    (found,) = (one for one in deliveries.claim(NOW, 100) if one.channel)

    for _ in range(2):  # as after a lost answer
        assert chats.send(found).error == ""

    assert len({json.loads(body)["dedup_key"] for _, body in pager.got}) == 1
