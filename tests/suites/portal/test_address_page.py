"""The page of an address: newest reading, charts, and what it says while there is nothing."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.console.views import addresses
from tenants import reading_history
from tenants.live_readings import Gauges
from tenants.models import Address, AddressReading, SpaceReading
from tenants.reading_history import MINUTES, QUARTERS, Step
from tests.suites.portal.conftest import As
from tests.support import domain
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(world: World) -> Address:
    return domain.address(rows.space(world.tenant, "orders"), "orders", "queue")


def read(address: Address, age: timedelta = timedelta(0)) -> None:
    now = timezone.now()
    SpaceReading.objects.update_or_create(
        space=address.space, defaults={"answered": {"broker-0": (now - age).isoformat()}}
    )
    part = {"depth": 1234, "stored_bytes": 99, "arrived": 1, "left": 0}
    AddressReading.objects.create(
        address=address, parts={"broker-0": part}, in_per_second=2.5, messages_in=1240
    )
    for history in (MINUTES, QUARTERS):
        at = reading_history.floor(now, history.step) - history.step
        reading_history.store(history, [Step(address.id, at, 55, 5, Gauges(1234, 99))])


def url(address: Address) -> str:
    return f"/t/acme-shipping/spaces/orders/addresses/{address.id}"


@pytest.mark.parametrize("span", ["1h", "24h", "7d", "30d", "nonsense"])
def test_page_shows_the_reading_and_charts_of_a_span(
    world: World, as_: As, orders: Address, span: str
) -> None:
    read(orders)

    page = as_(world.member).get(f"{url(orders)}?span={span}").content.decode()

    assert "1,234" in page
    assert "2.5 a second" in page
    assert page.count('<svg class="chart"') == 3  # the receivers are not known
    assert "55 messages" in page
    assert "Old reading" not in page


def test_page_without_readings_says_what_to_do(world: World, as_: As, orders: Address) -> None:
    page = as_(world.owner).get(url(orders)).content.decode()

    assert "No reading yet" in page
    assert "Connect a client" in page


def test_old_reading_says_so(world: World, as_: As, orders: Address) -> None:
    read(orders, age=timedelta(minutes=10))

    assert "Old reading" in as_(world.owner).get(url(orders)).content.decode()


def test_list_of_addresses_shows_an_old_reading_as_such(
    world: World, as_: As, orders: Address
) -> None:
    page = "/t/acme-shipping/spaces/orders/"
    read(orders)
    now = as_(world.member).get(page).content.decode()
    old = (timezone.now() - timedelta(minutes=10)).isoformat()
    SpaceReading.objects.update(answered={"broker-0": old})
    later = as_(world.member).get(page).content.decode()

    # The rate with the tag before it: an instant elsewhere on the page can contain "2.5", too.
    words = (">2.5", "Old readings", "read 10 minutes ago")
    assert [word in now for word in words] == [True, False, False]
    assert [word in later for word in words] == [False, True, True]
    assert "1,234" in later  # the newest that is known


def test_old_reading_claims_no_present_rate(world: World, as_: As, orders: Address) -> None:
    read(orders, age=timedelta(minutes=10))

    assert "2.5 a second" not in as_(world.owner).get(url(orders)).content.decode()


def test_card_says_how_old_the_probe_is_and_what_it_went_through(
    world: World, as_: As, orders: Address
) -> None:
    never = as_(world.member).get(url(orders)).content.decode()
    then = timezone.now() - timedelta(minutes=4)
    Address.objects.filter(pk=orders.pk).update(phase="Active", probed_at=then)
    active = as_(world.member).get(url(orders)).content.decode()
    Address.objects.filter(pk=orders.pk).update(phase="Configuring")
    broken = as_(world.member).get(url(orders)).content.decode()

    assert "No test message went through" in never
    assert "Last test message: 4 minutes ago" in active
    assert "an internal address of the same kind" in active
    assert "Last test message that went through: 4 minutes ago" in broken


def test_an_open_card_is_sent_again_when_its_probe_grows_old(orders: Address) -> None:
    read(orders)
    now = timezone.now()
    first, later = (
        addresses.live_context(Address(id=orders.id, space=orders.space, probed_at=probed), now)
        for probed in (now, now - timedelta(minutes=1))
    )

    assert first["seen_live"] != later["seen_live"]


def test_an_open_card_is_sent_again_when_its_reading_becomes_old(orders: Address) -> None:
    read(orders)
    now = timezone.now()

    fresh = addresses.live_context(orders, now)
    old = addresses.live_context(orders, now + timedelta(minutes=3))

    assert (fresh["is_stale"], old["is_stale"]) == (False, True)
    assert fresh["seen_live"] != old["seen_live"]


def test_unchanged_card_is_not_sent_again(world: World, as_: As, orders: Address) -> None:
    read(orders)
    client = as_(world.owner)
    card = client.get(f"{url(orders)}/live")
    seen = card.content.decode().split("?seen=")[1][:16]

    assert client.get(f"{url(orders)}/live?seen={seen}").status_code == 204


def test_outsider_finds_no_page(world: World, as_: As, orders: Address) -> None:
    assert as_(world.outsider).get(url(orders)).status_code == 404


def test_list_shows_readings_at_the_same_cost(world: World, as_: As, orders: Address) -> None:
    read(orders)
    client = as_(world.owner)
    client.get("/t/acme-shipping/spaces/orders/")
    with CaptureQueriesContext(connection) as few:
        page = client.get("/t/acme-shipping/spaces/orders/").content.decode()
    for name in "abc":
        read(domain.address(orders.space, name, "queue"))
    with CaptureQueriesContext(connection) as many:
        client.get("/t/acme-shipping/spaces/orders/")

    assert "1,234" in page
    assert len(few) == len(many)
