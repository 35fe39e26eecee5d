"""Replies over temporary addresses, and what no client may ask of a router: for each engine."""

from pathlib import Path

import pytest
from proton import Delivery, Endpoint, Link, Message, symbol
from proton.reactor import ReceiverOption, SenderOption
from proton.utils import LinkDetached, SendException

from tenants.router_patches import Patch
from tests.support.messaging import conformance, scram_login
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.conformance import anna
from tests.support.messaging.routing_rig import Rig
from tests.support.waiting import eventually
from workers.services.amqp_frames import Outcome

pytestmark = [pytest.mark.router, pytest.mark.slow]


def test_a_question_is_answered_over_a_temporary_address(router: Rig) -> None:
    service, asking = anna(router), anna(router)
    served = service.create_receiver("calls", credit=1)
    answers = asking.create_receiver(None, dynamic=True, credit=1)
    question = asking.create_sender("calls")

    question.link.send(Message(body="?", reply_to=answers.link.remote_source.address))
    rigs.flush(asking)
    reply_to = served.receive(timeout=60).reply_to
    service.create_sender(None).link.send(Message(address=reply_to, body="!"))
    rigs.flush(service)

    assert answers.receive(timeout=60).body == "!"


@pytest.mark.parametrize("is_anonymous", [True, False])
def test_a_question_is_answered_over_a_temporary_queue(router: Rig, is_anonymous: bool) -> None:
    asking, answering = anna(router), anna(router)
    name = rigs.temporary_queue(asking)
    answers = asking.create_receiver(name, credit=1)

    sender = answering.create_sender(None if is_anonymous else name)
    sender.link.send(Message(address=name, body="!"))
    rigs.flush(answering)

    assert answers.receive(timeout=60).body == "!"


def test_a_temporary_queue_ends_with_its_last_link(router: Rig) -> None:
    asking, answering = anna(router), anna(router)
    name = rigs.temporary_queue(asking)
    asking.close()

    def refusal() -> str | None:
        try:
            answering.create_sender(name).close()
        except LinkDetached as error:
            return str(error.condition)
        return None

    eventually(lambda: refusal() == "amqp:not-found", "the name is unknown again")


def test_who_only_sends_may_read_answers_and_not_give_them(router: Rig) -> None:
    writer = router.connect("writer", "secret of writer")
    name = rigs.temporary_queue(writer)

    assert writer.create_receiver(name).link.state & Endpoint.REMOTE_ACTIVE
    with pytest.raises(LinkDetached) as refusal:
        writer.create_sender(name)
    assert refusal.value.condition == "amqp:unauthorized-access"


def test_who_only_reads_may_give_answers_and_not_read_them(router: Rig) -> None:
    reader = router.connect("reader", "secret of reader")
    name = rigs.temporary_queue(anna(router))

    assert reader.create_sender(name).link.state & Endpoint.REMOTE_ACTIVE
    with pytest.raises(LinkDetached) as refusal:
        reader.create_receiver(name)
    assert refusal.value.condition == "amqp:unauthorized-access"


@pytest.mark.parametrize("is_queue", [True, False])
def test_an_anonymous_answer_of_who_may_not_answer_is_refused(router: Rig, is_queue: bool) -> None:
    asking = anna(router)
    answers = asking.create_receiver(None, dynamic=True, credit=1)
    name = rigs.temporary_queue(asking) if is_queue else answers.link.remote_source.address
    sender = router.connect("writer", "secret of writer").create_sender(None)

    with pytest.raises(SendException) as refusal:
        sender.send(Message(address=name, body="!"), timeout=60)

    assert refusal.value.state == Delivery.REJECTED


class SenderWith(SenderOption):
    """A sender whose target has a capability."""

    def __init__(self, capability: str) -> None:
        self._capability = capability

    def apply(self, link: Link) -> None:
        link.target.capabilities.put_object(symbol(self._capability))


class ReceiverWith(ReceiverOption):
    """A receiver whose source has a capability."""

    def __init__(self, capability: str) -> None:
        self._capability = capability

    def apply(self, link: Link) -> None:
        link.source.capabilities.put_object(symbol(self._capability))


@pytest.mark.parametrize("sends", [True, False])
@pytest.mark.parametrize("capability", ["qd.waypoint", "qd.waypoint.2", "qd.fallback"])
def test_a_client_may_not_stand_in_for_a_broker(router: Rig, sends: bool, capability: str) -> None:
    """It would send to, or read from, an address behind the broker: unstored and unmetered."""
    connection = anna(router)

    def attach() -> object:
        if sends:
            return connection.create_sender("calls", options=SenderWith(capability))
        return connection.create_receiver("calls", options=ReceiverWith(capability))

    with pytest.raises(LinkDetached) as refusal:
        attach()

    assert refusal.value.condition == "amqp:unauthorized-access"


@pytest.mark.parametrize("engine", rigs.ENGINES)
def test_a_login_while_the_auth_service_is_away_may_be_tried_again(
    tmp_path: Path, engine: str
) -> None:
    """Qpid JMS with a failover URI gives up after any other failure."""
    with conformance.rig(tmp_path, engine) as router:
        router.require(Patch.SASL_CODE)
        router.auth.stop()

        outcome = scram_login.outcome_without_service(router)

    assert outcome.field(0) == Outcome.SYSTEM_TEMPORARY
