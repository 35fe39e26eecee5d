"""The page of a space's open connections: list, filter, empty states, closing."""

from datetime import UTC, datetime

import pytest

from tenants.models import AddressSpace, Disconnection
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World
from workers.messaging.observed import NO_TLS, ConnectionSeen, InstanceSnapshot
from workers.metering import connection_lists

pytestmark = pytest.mark.django_db
PAGE = "/t/acme-shipping/spaces/orders/connections"


@pytest.fixture
def space(world: World) -> AddressSpace:
    made = rows.active_space(world.tenant)
    rows.messaging_user(made)
    return made


@pytest.fixture
def connected(space: AddressSpace) -> AddressSpace:
    clients = [
        ConnectionSeen("7", "checkout", "till-<1>", "10.0.0.9:4", "AMQP", addresses=["invoices"]),
        ConnectionSeen("8", "reports", "night", "10.0.0.8:4", "AMQP"),
    ]
    taken = {"router-0": InstanceSnapshot("boot", (), clients, 0)}
    as_of = datetime(2026, 11, 23, 10, tzinfo=UTC)
    connection_lists.store(space.id, taken, existing=taken, as_of=as_of)
    return space


def test_page_lists_connections_and_filters_them(
    world: World, as_: As, connected: AddressSpace
) -> None:
    everything = as_(world.owner).get(PAGE).content.decode()
    of_one = as_(world.owner).get(PAGE + "?user=checkout").content.decode()
    none = as_(world.owner).get(PAGE + "?address=nowhere").content.decode()

    assert "2 open connections" in everything
    assert "till-&lt;1&gt;" in everything
    assert "router-0.8" in everything
    assert "router-0.8" not in of_one
    assert "Close all connections of checkout" in of_one
    assert "No connection matches" in none


def test_users_show_their_connections_and_what_is_unknown(
    world: World, as_: As, connected: AddressSpace
) -> None:
    users = as_(world.owner).get("/t/acme-shipping/spaces/orders/users").content.decode()
    connections = as_(world.owner).get(PAGE).content.decode()

    assert 'connections?user=checkout">1</a> with 0 links' in users
    assert "rates unknown" in users
    assert "product unknown" in connections
    assert "TLS version unknown" in connections


def test_page_shows_what_a_client_says_about_itself_and_its_encryption(
    world: World, as_: As, space: AddressSpace
) -> None:
    clients = [
        ConnectionSeen(
            *("7", "checkout", "till", "10.0.0.9:4"), product="<rhea> 3.0", tls="TLSv1.3 TLS_AES"
        ),
        ConnectionSeen("8", "reports", "night", "10.0.0.8:4", tls=NO_TLS),
    ]
    taken = {"broker-0": InstanceSnapshot("boot", (), clients, 0)}
    as_of = datetime(2026, 11, 23, 10, tzinfo=UTC)
    connection_lists.store(space.id, taken, existing=taken, as_of=as_of)

    page = as_(world.member).get(PAGE).content.decode()

    assert "10.0.0.9:4 · &lt;rhea&gt; 3.0" in page
    assert "TLSv1.3 TLS_AES" in page
    assert "not encrypted" in page


def test_empty_page_says_what_to_do(world: World, as_: As, space: AddressSpace) -> None:
    page = as_(world.owner).get(PAGE).content.decode()

    assert "No open connections" in page
    assert '/t/acme-shipping/spaces/orders/connect"' in page


def test_selected_connections_are_closed_after_a_confirmation(
    world: World, as_: As, connected: AddressSpace
) -> None:
    client = as_(world.owner)
    question = client.get(PAGE + "/close?ids=router-0.7&ids=router-0.8").content.decode()
    asked = Disconnection.objects.count()
    answer = client.post(PAGE + "/close", {"ids": ["router-0.7", "router-0.8"]})

    assert "Close 2 connections?" in question
    assert "may connect again" in question
    assert asked == 0
    assert answer["Location"] == PAGE
    assert [target["id"] for target in Disconnection.objects.get().targets] == ["7", "8"]


def test_nothing_selected_leads_back(world: World, as_: As, connected: AddressSpace) -> None:
    answer = as_(world.owner).get(PAGE + "/close", follow=True)

    assert "Choose the connections to close." in answer.content.decode()


def test_all_connections_of_a_user_are_closed(
    world: World, as_: As, connected: AddressSpace
) -> None:
    as_(world.owner).post(PAGE + "/close", {"user": "checkout"})

    assert Disconnection.objects.get().messaging_user == "checkout"
