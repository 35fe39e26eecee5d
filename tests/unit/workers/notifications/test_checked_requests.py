"""A chat is reached at the address that was checked, whatever the name server says next."""

from typing import Any

import pytest
from urllib3.util import connection

from controlplane.core import outbound
from tenants.actions import notification_channels
from tenants.actions.notification_channels import Target
from tenants.notifications import deliveries, outbox, routing
from tenants.notifications.chat_services import REGISTRY
from tests.support import domain
from tests.unit.workers.notifications.test_chats import NOW
from workers.notifications import chats, checked_requests

# Apprise imports it.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
PUBLIC, LOOPBACK = "93.184.216.34", "127.0.0.1"
URLS = {
    "slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
    "discord": "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
    "gchat": "gchat://workspace/webhook-key/webhook-token",
    "wxteams": "wxteams://" + "a" * 80,
    "tgram": "tgram://123456789:abcdefg_hijklmnop/12315544",
    "pover": f"pover://{'u' * 30}@{'t' * 30}",
    "pagerduty": "pagerduty://integration-key@api-key",
    "opsgenie": "opsgenie://a-key-of-the-service",
}


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts or addresses to which Apprise tried to connect; none of them answers."""
    tried: list[str] = []

    def connect(address: tuple[str, int], *_args: Any, **_options: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError("nobody answers")

    monkeypatch.setattr(connection, "create_connection", connect)
    return tried


def _sent(cast: domain.Cast, url: str) -> str:
    """Send an event to a new channel; return the error of the attempt."""
    notification_channels.create(
        tenant=cast.tenant, name="chat", target=Target("chat", url), kinds=[], by=cast.by
    )
    outbox.write("token.expiring", tenant=cast.tenant, key="1", fields={}, now=NOW)
    routing.route(NOW)
    (found,) = (one for one in deliveries.claim(NOW, 100) if one.channel)
    return chats.send(found).error


def test_every_service_is_tried() -> None:
    assert set(URLS) == {service.schema for service in REGISTRY}


@pytest.mark.parametrize("schema", URLS)
def test_a_second_answer_of_the_name_server_leads_nowhere(
    cast: domain.Cast, monkeypatch: pytest.MonkeyPatch, connected: list[str], schema: str
) -> None:
    hosts = next(service.hosts for service in REGISTRY if service.schema == schema)
    answers = [PUBLIC] * len(hosts)  # of the check before the call
    asked: list[str] = []

    def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        return [answers.pop(0) if answers else LOOPBACK]

    monkeypatch.setattr(outbound, "_lookup", lookup)

    assert "did not take it" in _sent(cast, URLS[schema])
    assert connected == []
    # Apprise did want to connect.
    assert len(asked) > len(hosts)
    assert set(asked) <= set(hosts)


@pytest.mark.parametrize("schema", URLS)
def test_the_connection_goes_to_the_checked_address(
    cast: domain.Cast, monkeypatch: pytest.MonkeyPatch, connected: list[str], schema: str
) -> None:
    monkeypatch.setattr(outbound, "_lookup", lambda host, port: [PUBLIC])

    assert "did not take it" in _sent(cast, URLS[schema])

    assert set(connected) == {PUBLIC}


def test_a_plugin_that_sends_otherwise_is_refused() -> None:
    with pytest.raises(TypeError, match="does not send with requests"):
        checked_requests.use_in(object())
