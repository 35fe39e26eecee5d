"""No address stores more on disk than it sells, whatever is sent in which order: a real broker.

Pages and the files of large messages count together, also after a restart. What subscriptions to
filters store has a limit of its own.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from proton import Delivery, Message
from proton.utils import BlockingConnection, BlockingReceiver, BlockingSender

from controlplane.core.address_types import AddressSettings
from plans.catalog.definitions import FILTER_BYTES
from tests.support.messaging import public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
SOLD = 16_777_216
# What an address stores on top: its memory, and the pages and messages that were on their way.
BESIDE = 1_048_576 + 4 * 131_072
SMALL, LARGE = 10_000, 900_000
LITTLE, NOT_QUITE_LARGE = 400_000, 90_000  # bigger than a page of so small an address
SUBSCRIPTIONS = ("reader", "other")
MANY = [f"t{number}" for number in range(14)]
ADDRESSES = (
    DesiredAddress("news", TOPIC, AddressSettings(max_bytes=SOLD), subscriptions=SUBSCRIPTIONS),
    DesiredAddress(
        "little", TOPIC, AddressSettings(max_bytes=LITTLE), subscriptions=("one", "two")
    ),
    DesiredAddress("steady", QUEUE, AddressSettings(max_bytes=SOLD)),
    *(DesiredAddress(f"{name}/x", TOPIC) for name in MANY),
    DesiredAddress("unfiltered", TOPIC),
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("stored")
    with public_broker.running(folder, ADDRESSES, [user("alice", ("#", "send recv"))]) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    """A client that finds the addresses empty."""
    with management.connected(broker.rigged.target, purpose="empty") as client:
        for queue in (*SUBSCRIPTIONS, "one", "two", "steady"):
            client.call(f"queue.{queue}", "removeAllMessages")
    eventually(lambda: on_disk(broker, "large-messages") == 0, "every file is deleted")
    eventually(lambda: on_disk(broker, "paging") < SMALL, "every page is deleted")
    with broker.connected(timeout=60) as connection:
        yield connection


def on_disk(broker: PublicBroker, *folders: str) -> int:
    data = Path(broker.rigged.engine_layout.data_dir)
    return sum(
        file_bytes(Path(parent) / name)
        for folder in folders
        for parent, _, names in os.walk(data / folder)
        for name in names
    )


def file_bytes(path: Path) -> int:
    """Return the size of a file; 0 if the broker deleted it since it was listed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def fill(connection: BlockingConnection, address: str, size: int) -> tuple[int, str]:
    """Send messages until the address refuses one; return the accepted bytes and the condition."""
    sender = connection.create_sender(address)
    for accepted in range(2 * SOLD // size):
        delivery = routing_rig.hand_over(sender, Message(body=b"x" * size, durable=True))
        if routing_rig.outcome(sender, delivery, 60) != Delivery.ACCEPTED:
            sender.close()
            return accepted * size, routing_rig.condition_of(delivery)
    pytest.fail(f"{address} takes more than it sells")


def taken(receiver: BlockingReceiver, count: int) -> None:
    for _ in range(count):
        receiver.receive(timeout=60)
        receiver.accept()


@pytest.mark.parametrize(
    ("first", "then"), [(LARGE, SMALL), pytest.param(SMALL, LARGE, marks=pytest.mark.drill)]
)
@pytest.mark.parametrize("address", ["news", "steady"])
def test_small_and_large_messages_count_together(
    broker: PublicBroker, alice: BlockingConnection, address: str, first: int, then: int
) -> None:
    stored, condition = fill(alice, address, first)
    more, other = fill(alice, address, then)

    assert {condition, other} == {"amqp:resource-limit-exceeded"}
    assert SOLD - LARGE - 131_072 <= stored + more <= SOLD + BESIDE
    assert on_disk(broker, "large-messages", "paging") <= SOLD + BESIDE


def test_a_topic_stores_a_large_message_once_for_all_subscriptions(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    stored, _ = fill(alice, "news", LARGE)

    assert stored > SOLD - LARGE
    receiver = alice.create_receiver("news::reader", credit=stored // LARGE)
    taken(receiver, stored // LARGE)
    receiver.close()
    assert fill(alice, "news", LARGE)[0] == 0  # the other subscription has received none
    receiver = alice.create_receiver("news::other", credit=1)
    taken(receiver, 1)
    receiver.close()
    eventually(lambda: on_disk(broker, "large-messages") < stored, "its file is deleted")
    sender = alice.create_sender("news")
    assert sender.send(Message(body=b"x" * SMALL, durable=True)).remote_state == Delivery.ACCEPTED


def test_messages_that_are_bigger_than_a_page_count_whole(alice: BlockingConnection) -> None:
    """The broker's own limit counts pages, whatever is on them."""
    stored, condition = fill(alice, "little", NOT_QUITE_LARGE)

    assert condition == "amqp:resource-limit-exceeded"
    assert LITTLE <= stored <= LITTLE + LITTLE // 4 + NOT_QUITE_LARGE


@pytest.mark.parametrize("paged", [False, pytest.param(True, marks=pytest.mark.drill)])
def test_what_was_stored_before_a_restart_counts(
    broker: PublicBroker, alice: BlockingConnection, *, paged: bool
) -> None:
    sender = alice.create_sender("news")
    sizes = [SMALL] * (200 if paged else 0) + [LARGE] * 12
    for size in sizes:
        assert sender.send(Message(body=b"x" * size, durable=True)).remote_state
    assert (on_disk(broker, "paging") > SMALL) == paged
    broker.rigged.kill()
    broker.rigged.start()

    with broker.connected(timeout=60) as again:
        more = [fill(again, "news", size)[0] for size in (SMALL, LARGE)]
        assert sum(sizes) + sum(more) <= SOLD + BESIDE
        assert more[0] > SOLD - sum(sizes) - 2 * BESIDE
        receiver = again.create_receiver("news::reader", credit=100)
        taken(receiver, len(sizes))


@pytest.mark.drill
def test_a_queue_that_is_never_empty_goes_on(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    """The file of a paged message stays until its page is received, so no page has too many."""
    sender = alice.create_sender("steady")
    receiver = alice.create_receiver("steady", credit=1)
    small, large = (Message(body=b"x" * size, durable=True) for size in (SMALL, LARGE))
    for message in [*[small] * 200, large, large]:
        sender.send(message)
    taken(receiver, 200)
    assert on_disk(broker, "paging") > SMALL

    for _ in range(3 * SOLD // LARGE):
        assert sender.send(large).remote_state == Delivery.ACCEPTED
        taken(receiver, 1)
        assert on_disk(broker, "large-messages") <= SOLD


def test_subscriptions_to_filters_share_what_the_plan_keeps_for_them(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    """Each alone may hold 8 MiB, on pages of its own."""
    receivers = [alice.create_receiver(f"{name}/*", credit=0) for name in MANY]
    before = on_disk(broker, "paging")
    filled = [fill(alice, f"{name}/x", 64_000) for name in MANY]

    accepted = [stored for stored, _ in filled]
    assert {condition for _, condition in filled} == {"amqp:resource-limit-exceeded"}
    assert accepted[0] > 8_000_000
    assert accepted[-1] == 0
    assert 0.9 * FILTER_BYTES < sum(accepted) < FILTER_BYTES
    assert on_disk(broker, "paging") - before <= FILTER_BYTES
    assert alice.create_sender("unfiltered").send(Message(body="no filter")).remote_state
    receivers[0].close()
    sender = alice.create_sender(f"{MANY[-1]}/x")
    eventually(lambda: is_taken(sender), "a subscription that ends leaves room")


def is_taken(sender: BlockingSender) -> bool:
    delivery = routing_rig.hand_over(sender, Message(body=b"x", durable=True))
    return routing_rig.outcome(sender, delivery, 60) == Delivery.ACCEPTED


def test_messages_that_are_refused_do_not_fill_the_log(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    fill(alice, "news", LARGE)
    fill(alice, "news", SMALL)
    before = len(broker.log)
    sender = alice.create_sender("news")
    sent = [
        routing_rig.hand_over(sender, Message(body=b"x" * SMALL, durable=True)) for _ in range(500)
    ]

    alice.wait(lambda: all(one.settled for one in sent), timeout=60)
    assert {one.remote_state for one in sent} == {Delivery.REJECTED}
    assert len(broker.log) - before < 50_000


def test_the_broker_logs_no_error(broker: PublicBroker) -> None:
    assert [line for line in broker.log.splitlines() if " ERROR " in line] == []
