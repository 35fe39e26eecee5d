"""Bytes and steps of messages, as the broker plugin counts them on a real broker."""

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Message, SSLDomain
from proton.handlers import MessagingHandler, TransactionHandler
from proton.utils import BlockingConnection

from tests.support.messaging import amqp, public_broker
from tests.support.messaging.public_broker import PASSWORD, PublicBroker, user
from workers.messaging import management, tls
from workers.messaging.brokers import driver, traffic
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.observed import NO_SIZES, AddressCounters, Sizes

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
NAMES = ("orders", "moved", "atomic", "many-1", "many-2", "many-3")
ADDRESSES = (
    *(DesiredAddress(name, QUEUE) for name in NAMES),
    DesiredAddress("news", TOPIC, subscriptions=("ledger",)),
)
METERED = [
    *(MeteredAddress(name, "queue") for name in NAMES),
    MeteredAddress("news", "topic"),
    MeteredAddress("ledger", "subscription"),
]
KIB = 1024
BODIES = ("", "x" * 100, "x" * 60 * KIB, "x" * 70 * KIB, "x" * 300 * KIB)
STEPS = 1 + 1 + 1 + 2 + 5


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("traffic")
    with public_broker.running(folder, ADDRESSES, [user("alice", ("#", "send recv"))]) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected() as connection:
        yield connection


def counters(broker: PublicBroker, address: str) -> AddressCounters:
    taken = driver.snapshot(broker.rigged.target, addresses=METERED)
    return next(found for found in taken.addresses if found.address == address)


def encoded(*bodies: str) -> int:
    return sum(len(amqp.message(body).encode()) for body in bodies)


def test_a_queue_counts_what_was_sent_and_what_was_acknowledged(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    amqp.send(alice, "orders", *BODIES)
    sent = counters(broker, "orders")
    assert amqp.receive(alice, "orders", 4) == list(BODIES[:4])
    received = counters(broker, "orders")

    # A message may gain some bytes on its way: the client's library and the broker add a header.
    assert encoded(*BODIES) <= sent.sizes_in.bytes <= encoded(*BODIES) + 100 * len(BODIES)
    assert sent.sizes_in.steps_64k == STEPS
    assert sent.sizes_out == NO_SIZES
    assert received.sizes_in == sent.sizes_in
    assert encoded(*BODIES[:4]) <= received.sizes_out.bytes < encoded(*BODIES[:4]) + 400
    assert received.sizes_out.steps_64k == STEPS - 5


def test_what_management_moves_or_removes_is_not_counted(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    before = counters(broker, "orders")
    amqp.send(alice, "moved", "one", "two")
    with management.connected(broker.rigged.target, purpose="test") as client:
        client.call("queue.moved", "moveMessages", "", "orders")
        client.call("queue.orders", "removeAllMessages")

    moved, orders = counters(broker, "moved"), counters(broker, "orders")
    assert (moved.sizes_in.steps_64k, moved.sizes_out) == (2, NO_SIZES)
    assert (orders.sizes_in, orders.sizes_out) == (before.sizes_in, before.sizes_out)


def test_a_topic_counts_each_message_once_in_and_for_each_subscriber_out(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    amqp.send(alice, "news", "nobody listens")  # but the subscription that is an address
    receiver = alice.create_receiver("news", credit=2)
    amqp.send(alice, "news", "x" * 70 * KIB)
    receiver.receive(timeout=10)
    receiver.accept()
    amqp.receive(alice, "news::ledger", 2)

    news, ledger = counters(broker, "news"), counters(broker, "ledger")
    receiver.close()
    assert news.sizes_in.steps_64k == 3
    assert [sizes.steps_64k for sizes in news.queue_sizes_out.values()] == [2]
    assert news.sizes_out == Sizes(*next(iter(news.queue_sizes_out.values())))
    assert (ledger.sizes_in, ledger.sizes_out.steps_64k) == (NO_SIZES, 3)


class Transacting(MessagingHandler, TransactionHandler):
    """Sends two messages in one transaction, which it aborts or commits."""

    def __init__(self, broker: PublicBroker, *, commits: bool) -> None:
        super().__init__()
        self._broker, self._commits = broker, commits
        self._sender: Any = None
        self._connection: Any = None

    def on_start(self, event: Any) -> None:
        host, port = self._broker.at
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(str(self._broker.folder / f"{port}.pem"))
        self._connection = event.container.connect(
            f"amqps://{host}:{port}",
            user="alice",
            password=PASSWORD,
            ssl_domain=domain,
            allowed_mechs="PLAIN",
            reconnect=False,
        )
        self._sender = event.container.create_sender(self._connection, "atomic")
        event.container.declare_transaction(self._connection, handler=self)

    def on_transaction_declared(self, event: Any) -> None:
        transaction = event.transaction
        for _ in range(2):
            transaction.send(self._sender, Message(body="x" * 70 * KIB, durable=True))
        if self._commits:
            transaction.commit()
        else:
            transaction.abort()

    def on_transaction_committed(self, event: Any) -> None:
        self._connection.close()

    def on_transaction_aborted(self, event: Any) -> None:
        self._connection.close()


@pytest.mark.parametrize("commits", [False, True])
def test_a_transaction_counts_when_it_commits(
    broker: PublicBroker, alice: BlockingConnection, *, commits: bool
) -> None:
    before = counters(broker, "atomic")

    tls.Container(Transacting(broker, commits=commits)).run()

    grown = counters(broker, "atomic")
    assert grown.messages_in - before.messages_in == 2 * commits
    assert grown.sizes_in.steps_64k - before.sizes_in.steps_64k == 4 * commits


def test_sizes_are_read_in_pages(
    broker: PublicBroker, alice: BlockingConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        amqp.send(alice, f"many-{number}", *["one"] * number)
    monkeypatch.setattr(traffic, "_PAGE", 2)

    steps = [counters(broker, f"many-{number}").sizes_in.steps_64k for number in (1, 2, 3)]

    assert steps == [1, 2, 3]


def test_a_broker_without_the_count_has_no_sizes(
    broker: PublicBroker, alice: BlockingConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    amqp.send(alice, "orders", "one")
    monkeypatch.setattr(traffic, "_RESOURCE", "waypost.unknown")

    found = counters(broker, "orders")

    assert (found.sizes_in, found.sizes_out) == (NO_SIZES, NO_SIZES)
    assert found.messages_in > 0
