"""What a router must do for the `standard` space, without a broker: the same for each engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from proton import ConnectionException, Delivery, Endpoint, Link, Message, Terminus
from proton.reactor import Copy, LinkOption, Selector, SenderOption
from proton.utils import LinkDetached

from tenants.router_patches import Patch
from tests.support.messaging import amqp, scram_login
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.conformance import ADDRESSES, BOTH, anna
from tests.support.messaging.routing_rig import Rig, known
from tests.support.waiting import eventually
from workers.messaging.routers.desired import ClientLimits
from workers.services.amqp_frames import Outcome

pytestmark = [pytest.mark.router, pytest.mark.slow]


# Logging in


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_login_with_the_right_password(router: Rig, mechanism: str) -> None:
    connection = router.connect("anna", "secret of anna", mechanism=mechanism)

    assert connection.conn is not None
    assert connection.conn.state & Endpoint.REMOTE_ACTIVE


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize(("name", "password"), [("anna", "wrong"), ("nobody", "secret of anna")])
def test_login_with_a_wrong_password_is_refused_cleanly(
    router: Rig, mechanism: str, name: str, password: str
) -> None:
    with pytest.raises(ConnectionException) as refusal:
        router.connect(name, password, mechanism=mechanism)

    assert "Authentication failed" in str(refusal.value)


def test_login_without_a_name_is_refused(router: Rig) -> None:
    with pytest.raises(ConnectionException):
        router.connect("", "", mechanism="ANONYMOUS")


# Permissions


@pytest.mark.parametrize(
    ("name", "sends", "address"),
    [
        ("reader", True, "calls"),
        ("writer", False, "calls"),
        ("reader", False, "newsletter"),
        ("anna", True, "nobody/made/this"),
        ("anna", False, "nobody/made/this"),
        ("anna", True, "$management"),
        ("anna", False, "$management"),
        ("anna", True, "_topo/0/router-0/$management"),
        ("wild", True, "$management"),
        ("wild", False, "$management"),
        ("wild", True, "_topo/0/router-0/$management"),
        ("wild", True, "amqp:/_topo/0/router-0/$management"),
        ("wild", True, "calls/x:/$management"),
        ("anna", True, "calls::foreign"),
        ("wild", True, "calls::foreign"),
        ("anna", False, "news/#"),
        ("anna", False, "news/*"),
        ("anna", True, "news/#"),
    ],
)
def test_an_attach_without_permission_is_refused(
    router: Rig, name: str, sends: bool, address: str
) -> None:
    connection = router.connect(name, f"secret of {name}")

    with pytest.raises(LinkDetached) as refusal:
        connection.create_sender(address) if sends else connection.create_receiver(address)

    assert refusal.value.condition == "amqp:unauthorized-access"


@pytest.mark.parametrize("sends", [True, False])
def test_a_refused_attach_names_no_terminus(router: Rig, sends: bool) -> None:
    """AMQP 1.0, part 2, section 2.6.3; Qpid JMS takes a link that names one for open."""
    router.require(Patch.REFUSED_LINK)
    connection = anna(router)
    container = connection.container
    attach = container.create_sender if sends else container.create_receiver

    assert connection.conn is not None
    link = attach(connection.conn, "nobody/made/this")
    with pytest.raises(LinkDetached):
        connection.wait(lambda: link.state & Endpoint.REMOTE_CLOSED)

    assert rigs.condition_of(link) == "amqp:unauthorized-access"
    answered = link.remote_target if sends else link.remote_source
    assert answered.type == Terminus.UNSPECIFIED


@pytest.fixture
def patterned(router: Rig) -> Iterator[Rig]:
    """Permissions that are sent to the router as patterns, which our patch alone makes safe."""
    router.require(Patch.POLICY_HOST)
    before = router.auth.state.picture
    assert before is not None
    anyone = [known("pat", "secret of pat", {"#": BOTH})]
    router.auth.set_users(*anyone, addresses=["*", "calls", "calls/*"])
    yield router
    router.auth.state.replace(before)


@pytest.mark.parametrize(
    "address",
    [
        "$management",
        "_local/$management",
        "_topo/0/router-0/$management",
        "amqp:/_topo/0/router-0/$management",
        "amqp://here/$management",
        "/$management",
        "//here/$management",
        "calls/x:/$management",
        "calls/x:/_local/$management",
        "calls/x://here/$management",
    ],
)
def test_a_pattern_opens_no_internal_address(patterned: Rig, address: str) -> None:
    connection = patterned.connect("pat", "secret of pat")

    for attach in (connection.create_sender, connection.create_receiver):
        with pytest.raises(LinkDetached) as refusal:
            attach(address)
        assert refusal.value.condition == "amqp:unauthorized-access"


def test_a_pattern_opens_what_it_says(patterned: Rig) -> None:
    connection = patterned.connect("pat", "secret of pat")

    assert connection.create_receiver("news/local").link.state & Endpoint.REMOTE_ACTIVE
    with pytest.raises(LinkDetached) as refusal:
        connection.create_receiver("calls/below")  # open, and not there
    assert refusal.value.condition == "amqp:not-found"


def test_the_outcome_of_a_scram_login_repeats_no_challenge(router: Rig) -> None:
    """Qpid JMS takes data in an outcome for another challenge, and gives up."""
    router.require(Patch.SASL_OUTCOME)

    outcome = scram_login.outcome_of(router, "anna", "secret of anna")

    assert outcome.field(0) == Outcome.OK
    assert not outcome.field(1)


def test_permission_patterns_open_what_they_say(router: Rig) -> None:
    reader = router.connect("reader", "secret of reader")

    assert reader.create_receiver("news/local").link.state & Endpoint.REMOTE_ACTIVE


def test_send_is_refused_while_it_is_withdrawn(router: Rig) -> None:
    users = [known("late", "secret of late", {"#": BOTH})]
    before = router.auth.state.picture
    assert before is not None
    router.auth.set_users(*users, addresses=ADDRESSES, send_withdrawn=True)
    try:
        connection = router.connect("late", "secret of late")

        assert connection.create_receiver("calls").link.state & Endpoint.REMOTE_ACTIVE
        with pytest.raises(LinkDetached):
            connection.create_sender("calls")
    finally:
        router.auth.state.replace(before)


def test_an_address_that_nobody_made_is_refused(router: Rig) -> None:
    connection = anna(router)

    for attach in (connection.create_sender, connection.create_receiver):
        with pytest.raises(LinkDetached) as refusal:
            attach("nothing/here")
        assert refusal.value.condition == "amqp:not-found"


def test_an_anonymous_sender_is_checked_with_each_message(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=5)
    sender = router.connect("writer", "secret of writer").create_sender(None)

    allowed = rigs.hand_over(sender, Message(address="calls", body="allowed"))
    rigs.flush(sender.connection)
    got = rigs.take(receiver, 1)

    assert got == ["allowed"]
    assert rigs.outcome(sender, allowed) == Delivery.ACCEPTED
    listening = anna(router).create_receiver("news/local", credit=5)
    refused = rigs.hand_over(sender, Message(address="news/local", body="not granted"))
    assert rigs.outcome(sender, refused) == Delivery.REJECTED
    assert rigs.condition_of(refused) == "amqp:unauthorized-access"
    rigs.settle_down(listening.connection)
    assert not rigs.waiting(listening)


# Anycast


def test_anycast_gives_no_credit_without_a_consumer(router: Rig) -> None:
    sending, receiving = anna(router), anna(router)
    sender = sending.create_sender("calls")
    rigs.settle_down(sending)
    assert sender.link.credit == 0

    receiving.create_receiver("calls", credit=1)

    sending.wait(lambda: sender.link.credit > 0, timeout=60)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (Delivery.ACCEPTED, Delivery.ACCEPTED),
        (Delivery.REJECTED, Delivery.REJECTED),
        (Delivery.RELEASED, Delivery.RELEASED),
        (Delivery.MODIFIED, Delivery.MODIFIED),
    ],
)
def test_anycast_hands_the_outcome_back(router: Rig, said: Any, heard: int) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")

    delivery = rigs.post(sender, "question")
    receiver.receive(timeout=60)
    receiver.settle(said)
    rigs.flush(receiver.connection)

    assert rigs.outcome(sender, delivery) == heard


def test_anycast_hands_back_what_belongs_to_modified(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")

    delivery = rigs.post(sender, "question")
    receiver.receive(timeout=60)
    rigs.fail(receiver, undeliverable=True)

    assert rigs.outcome(sender, delivery) == Delivery.MODIFIED
    assert (delivery.remote.failed, delivery.remote.undeliverable) == (True, True)


def test_anycast_settles_only_when_the_consumer_does(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")

    delivery = rigs.post(sender, "question")
    receiver.receive(timeout=60)
    rigs.settle_down(sender.connection)
    assert not delivery.settled

    receiver.accept()
    rigs.flush(receiver.connection)

    assert rigs.outcome(sender, delivery) == Delivery.ACCEPTED


def test_anycast_shares_and_delivers_each_once(router: Rig) -> None:
    receivers = [anna(router).create_receiver("calls", credit=100) for _ in range(2)]
    sender = anna(router).create_sender("calls")

    posted = [rigs.post(sender, number) for number in range(100)]
    clients = [receiver.connection for receiver in receivers]

    def all_came() -> bool:
        rigs.settle_down(*clients)
        return sum(rigs.waiting(receiver) for receiver in receivers) >= 100

    eventually(all_came)
    rigs.settle_down(*clients)  # one that came twice may follow
    got = [rigs.take(receiver, rigs.waiting(receiver)) for receiver in receivers]

    assert sorted(got[0] + got[1]) == list(range(100))
    assert min(len(taken) for taken in got) >= 30
    assert {rigs.outcome(sender, delivery) for delivery in posted} == {Delivery.ACCEPTED}


def test_a_message_whose_consumer_leaves_comes_back_as_modified(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")

    delivery = rigs.post(sender, "question")
    receiver.receive(timeout=60)
    receiver.connection.close()

    assert rigs.outcome(sender, delivery) == Delivery.MODIFIED


def test_messages_are_released_when_nobody_is_left(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")
    receiver.connection.close()
    rigs.settle_down(sender.connection)

    delivery = rigs.post(sender, "question")

    assert rigs.outcome(sender, delivery) == Delivery.RELEASED


def test_a_consumer_never_gets_more_than_its_credit(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls")
    receiver.link.flow(3)  # with `credit=` this client would top it up by itself
    rigs.flush(receiver.connection)
    sender = anna(router).create_sender("calls")

    for number in range(10):
        rigs.post(sender, number)
    rigs.settle_down(receiver.connection, sender.connection)

    assert rigs.waiting(receiver) == 3
    assert rigs.take(receiver, 3) == [0, 1, 2]
    receiver.link.flow(7)
    assert rigs.take(receiver, 7) == list(range(3, 10))


def test_a_consumer_without_credit_gets_its_share_which_waits_for_it(router: Rig) -> None:
    busy = anna(router).create_receiver("calls")
    ready = anna(router).create_receiver("calls", credit=10)
    sender = anna(router).create_sender("calls")

    posted = [rigs.post(sender, number) for number in range(6)]
    rigs.settle_down(sender.connection, ready.connection, busy.connection)

    assert (rigs.waiting(ready), rigs.waiting(busy)) == (3, 0)
    taken = rigs.take(ready, 3)
    busy.link.flow(3)
    assert sorted([*taken, *rigs.take(busy, 3)]) == list(range(6))
    assert {rigs.outcome(sender, delivery) for delivery in posted} == {Delivery.ACCEPTED}


def test_the_share_of_a_consumer_that_leaves_goes_back_to_the_sender(router: Rig) -> None:
    busy = anna(router).create_receiver("calls")
    ready = anna(router).create_receiver("calls", credit=10)
    sender = anna(router).create_sender("calls")

    posted = [rigs.post(sender, number) for number in range(6)]
    rigs.settle_down(sender.connection, ready.connection)
    rigs.take(ready, 3)
    busy.connection.close()

    outcomes = sorted(rigs.outcome(sender, delivery) for delivery in posted)
    assert outcomes == [*[Delivery.ACCEPTED] * 3, *[Delivery.RELEASED] * 3]


# Reading without taking


class _Coordinator(SenderOption):
    """Ask for a transaction coordinator. Source: AMQP 1.0, part 4, section 4.5.1."""

    def apply(self, link: Link) -> None:
        link.target.type = Terminus.COORDINATOR


@pytest.mark.parametrize("option", [Copy(), Selector("k = 1")], ids=["browser", "selector"])
def test_a_browser_or_a_selector_is_refused_instead_of_taking_messages(
    router: Rig, option: LinkOption
) -> None:
    router.require(Patch.NO_BROWSE)
    connection = anna(router)

    with pytest.raises(LinkDetached) as refusal:
        connection.create_receiver("calls", credit=1, options=option)

    assert refusal.value.condition == "amqp:not-implemented"
    assert (
        connection.create_receiver("calls", credit=1, name="plain").link.state
        & Endpoint.REMOTE_ACTIVE
    )


def test_a_transaction_is_refused_cleanly(router: Rig) -> None:
    connection = anna(router)

    with pytest.raises(LinkDetached) as refusal:
        connection.create_sender(None, name="coordinator", options=_Coordinator())

    assert refusal.value.condition == "amqp:precondition-failed"
    assert connection.create_sender("calls").link.state & Endpoint.REMOTE_ACTIVE


def test_a_large_message_arrives_whole(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")
    body = bytes(range(256)) * 20_000  # 5 MB

    delivery = rigs.hand_over(sender, Message(body=body))
    sender.connection.wait(lambda: sender.link.queued == 0, timeout=60)
    rigs.flush(sender.connection)
    got = amqp.receive_body(receiver)
    receiver.accept()
    rigs.flush(receiver.connection)

    assert got == body
    assert rigs.outcome(sender, delivery) == Delivery.ACCEPTED


def test_a_message_passes_unchanged(router: Rig) -> None:
    receiver = anna(router).create_receiver("calls", credit=1)
    sender = anna(router).create_sender("calls")
    sent = Message(
        id="id-1", subject="s", correlation_id=7, durable=True, priority=9, ttl=60,
        properties={"color": "red"}, annotations={"x-opt-a": 1}, body={"a": [1, "b"]},
    )  # fmt: skip

    sender.link.send(sent)
    rigs.flush(sender.connection)
    got = receiver.receive(timeout=60)

    assert got.encode() == sent.encode()


# Multicast


def test_multicast_copies_to_everyone_present(router: Rig) -> None:
    receivers = [anna(router).create_receiver("news/local", credit=10) for _ in range(3)]
    sender = anna(router).create_sender("news/local")

    delivery = rigs.post(sender, "it rains")

    assert [rigs.take(receiver, 1) for receiver in receivers] == [["it rains"]] * 3
    assert rigs.outcome(sender, delivery) == Delivery.ACCEPTED


def test_multicast_gives_no_credit_without_a_consumer(router: Rig) -> None:
    sender = anna(router).create_sender("news/local")

    rigs.settle_down(sender.connection)

    assert sender.link.credit == 0


def test_multicast_is_accepted_when_one_accepts_and_one_releases(router: Rig) -> None:
    receivers = [anna(router).create_receiver("news/local", credit=10) for _ in range(2)]
    sender = anna(router).create_sender("news/local")

    delivery = rigs.post(sender, "it rains")
    for receiver, said in zip(receivers, (Delivery.ACCEPTED, Delivery.RELEASED), strict=True):
        receiver.receive(timeout=60)
        receiver.settle(said)
        rigs.flush(receiver.connection)

    assert rigs.outcome(sender, delivery) == Delivery.ACCEPTED


# Limits of a plan


def test_each_limit_of_a_client_is_refused_with_its_own_error(router: Rig) -> None:
    before = router.desired
    of_one = {"user_connections": 1, "sessions": 3, "senders": 2, "receivers": 1}
    limits = ClientLimits(source_connections=2, message_bytes=100_000, **of_one)
    router.desired = replace(before, limits=limits)
    router.restart()
    try:
        anna = router.connect("anna", "secret of anna")
        assert anna.conn is not None
        assert anna.conn.transport is not None
        assert anna.conn.transport.remote_channel_max == 2  # sessions 0 to 2
        anna.create_receiver("calls", credit=5)
        with pytest.raises(LinkDetached, match="resource-limit-exceeded"):
            anna.create_receiver("calls", name="another")
        senders = [anna.create_sender("calls", name=name) for name in ("one", "two")]
        with pytest.raises(LinkDetached, match="resource-limit-exceeded"):
            anna.create_sender("calls", name="three")
        with pytest.raises(Exception, match="resource-limit-exceeded"):
            router.connect("anna", "secret of anna")
        other = router.connect("writer", "secret of writer")
        with pytest.raises(Exception, match="resource-limit-exceeded"):  # two from one host
            router.connect("reader", "secret of reader")
        assert senders[0].link.remote_max_message_size == 100_000
        delivery = rigs.hand_over(senders[0], Message(body=b"x" * 200_000))
        with pytest.raises((LinkDetached, ConnectionException)):
            anna.wait(lambda: False)
        assert rigs.condition_of(delivery) == "amqp:link:message-size-exceeded"
        assert other.create_sender("calls").link.state & Endpoint.REMOTE_ACTIVE
    finally:
        router.desired = before
        router.restart()
