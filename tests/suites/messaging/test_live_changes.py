"""Single addresses change in running engines by requests, whatever their start-up files say."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import broker_rig
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.broker_rig import RiggedBroker
from tests.support.messaging.routing_rig import Rig
from workers.messaging import management
from workers.messaging.brokers import driver as broker_driver
from workers.messaging.brokers import settings_check
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.routers import client, driver, entities
from workers.messaging.routers.desired import OnBroker, RoutedAddress, RouterAddressKind

pytestmark = [pytest.mark.broker, pytest.mark.router, pytest.mark.slow]

OLD = DesiredAddress("old", BrokerAddressKind.QUEUE)
LATE = DesiredAddress(
    "late", BrokerAddressKind.QUEUE, AddressSettings(max_bytes=400_000, dead_letter="old")
)
NEWS = DesiredAddress("news", BrokerAddressKind.TOPIC, subscriptions=["desk"])
CALLS = RoutedAddress("calls", RouterAddressKind.ANYCAST)
TOPIC = RoutedAddress("a", RouterAddressKind.TOPIC, [OnBroker("broker-0")])


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, RiggedBroker]]:
    with rigs.rig(tmp_path_factory.mktemp("space"), rigs.ENGINES[-1]) as router:
        router.auth.set_users(addresses=[])
        with broker_rig.brokers(router, 1, [OLD]) as (broker,):
            router.start([], [broker.at])
            yield router, broker


def differences(broker: RiggedBroker, *addresses: DesiredAddress) -> dict[str, str]:
    with management.connected(broker.target, purpose="test") as asking:
        return settings_check.find_differences(asking, broker.desired, addresses)


def names(broker: RiggedBroker) -> set[str]:
    with management.connected(broker.target, purpose="test") as asking:
        found = [*asking.read("broker", "AddressNames"), *asking.read("broker", "QueueNames")]
    return {"old", "late", "news", "desk"}.intersection(found)


def test_a_broker_keeps_changes_over_a_restart_from_an_older_file(
    space: tuple[Rig, RiggedBroker],
) -> None:
    _, broker = space

    done = broker_driver.apply(broker.target, replace(broker.desired, addresses=[LATE, NEWS]))
    again = broker_driver.apply(broker.target, replace(broker.desired, addresses=[LATE, NEWS]))
    broker.kill()
    broker.start()

    assert (done.pending, done.created, again.created) == ({}, 4, 0)
    assert 'name="late"' not in (broker.files.config / "broker.xml").read_text()
    assert names(broker) == {"old", "late", "news", "desk"}
    assert differences(broker, OLD, LATE, NEWS) == {}


def test_a_file_that_differs_from_an_earlier_request_wins(
    space: tuple[Rig, RiggedBroker],
) -> None:
    _, broker = space
    broker_driver.apply(broker.target, replace(broker.desired, addresses=[LATE]))
    other = replace(LATE, limits=AddressSettings(max_bytes=800_000))

    broker.hold(OLD, other)

    assert differences(broker, other) == {}


def test_a_removed_address_leaves_nothing_stored(space: tuple[Rig, RiggedBroker]) -> None:
    _, broker = space
    broker.load(OLD, NEWS)
    broker_driver.apply(broker.target, replace(broker.desired, addresses=[LATE]))
    broker_driver.withdraw(broker.target, ["late"])

    for _ in range(2):
        broker_driver.remove(broker.target, ["late"])

    plain = replace(LATE, limits=AddressSettings())
    broker.hold(OLD)
    assert "late" not in names(broker)
    assert differences(broker, plain) == {}


def held(router: Rig) -> set[str]:
    with client.connected(router.target, purpose="test") as asking:
        return {
            str(row["name"])
            for kind in (entities.ADDRESS, entities.AUTO_LINK, entities.LINK_ROUTE)
            for row in asking.query(kind, "name")
            if ":" in str(row["name"]) and "$" not in str(row["name"])
        }


def test_a_router_changes_single_addresses_and_keeps_all_others(
    space: tuple[Rig, RiggedBroker],
) -> None:
    router, _ = space
    nothing = replace(router.desired, addresses=[])

    driver.apply(router.target, replace(nothing, addresses=[CALLS]))
    driver.apply(router.target, replace(nothing, addresses=[TOPIC]))
    by_prefix = held(router)
    driver.apply(router.target, replace(nothing, addresses=[replace(TOPIC, has_below=True)]))
    exact = held(router)
    driver.apply(router.target, nothing, leaving=[CALLS, TOPIC])
    leaving = held(router)
    driver.apply(router.target, nothing, gone=[CALLS, TOPIC])

    calls = {"wp-address:calls", "wp-in:wp-hold:calls"}
    assert by_prefix == calls | {"wp-in:prefix:a", "wp-out:prefix:a"}
    assert exact == calls | {"wp-in:pattern:a", "wp-out:pattern:a"}
    assert leaving == {"wp-in:wp-hold:calls"}
    assert held(router) == set()
