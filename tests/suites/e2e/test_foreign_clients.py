"""Clients that are not ours, on every type of address: let in, and refused in the protocol's words.

Nothing of Waypost's own messaging code takes part on the client's side.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from controlplane.embedded.installation import Installation
from tests.support.foreign import Job, Told, node, plain_proton, proton_patterns
from tests.support.foreign import tenants as foreign_tenants
from tests.support.foreign.tenants import ARCHIVE, EVERY_ADDRESS, NEWS, SPACES, Tenants

pytestmark = [pytest.mark.stack, pytest.mark.slow]

CLIENTS = pytest.mark.parametrize(
    "exchange", [node.exchange, plain_proton.exchange], ids=["rhea", "proton"]
)
ASKING = pytest.mark.parametrize("ask", [node.ask, proton_patterns.ask], ids=["rhea", "proton"])
SUBSCRIBING = pytest.mark.parametrize(
    "subscribe", [node.subscribe, proton_patterns.subscribe], ids=["rhea", "proton"]
)
LARGE = 5 * 1000 * 1000
# One address of each type of space; the drills try the others.
LARGE_NOW = [("orders", "queue"), ("fleet", "topic")]
UNAUTHORIZED = "amqp:unauthorized-access"
Exchange = Callable[[Job], Told]


@pytest.fixture(scope="module")
def tenants(running: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    """Tenants of this module's own."""
    with foreign_tenants.made(running, tmp_path_factory.mktemp("trusted")) as made:
        yield made


@CLIENTS
@pytest.mark.parametrize(("space", "type_"), EVERY_ADDRESS)
def test_client_sends_and_receives(
    tenants: Tenants, exchange: Exchange, space: str, type_: str
) -> None:
    job = replace(tenants.job(space, type_), copies=type_ in ("topic", "multicast"))

    told = exchange(job)

    copies = job.receivers if job.copies else 1
    assert told.refused == ""
    assert told.accepted == job.messages
    assert Counter(told.received) == {f"message {n}": copies for n in range(job.messages)}


@CLIENTS
@pytest.mark.parametrize(
    ("space", "type_"),
    [
        pytest.param(*at, marks=() if at in LARGE_NOW else pytest.mark.drill)
        for at in EVERY_ADDRESS
        if at[1] != "multicast"
    ],
)
def test_large_message_arrives_whole(
    tenants: Tenants, exchange: Exchange, space: str, type_: str
) -> None:
    job = replace(tenants.job(space, type_), messages=1, receivers=1, size=LARGE)

    assert exchange(job) == Told(1, job.bodies, "")


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_subscription_is_read_as_a_queue(tenants: Tenants, exchange: Exchange, space: str) -> None:
    job = replace(tenants.job(space, NEWS), source=ARCHIVE, receivers=1)

    assert exchange(job) == Told(job.messages, job.bodies, "")


@ASKING
@pytest.mark.parametrize(("space", "address"), [("fleet", "anycast"), ("orders", "queue")])
def test_question_is_answered_over_a_temporary_address(
    tenants: Tenants, ask: Exchange, space: str, address: str
) -> None:
    job = tenants.job(space, address)

    assert ask(job) == Told(job.messages, tuple(f"answer to {body}" for body in job.bodies), "")


@SUBSCRIBING
@pytest.mark.parametrize("space", list(SPACES))
def test_durable_subscription_keeps_what_its_owner_missed(
    tenants: Tenants, subscribe: Exchange, space: str
) -> None:
    job = tenants.job(space, "topic")

    assert subscribe(job) == Told(job.messages, job.bodies, "")


def test_standard_space_refuses_a_transaction_and_the_connection_goes_on(tenants: Tenants) -> None:
    told = proton_patterns.transact(tenants.job("fleet", "queue"))

    assert told == Told(1, (), "amqp:precondition-failed")


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_wrong_password_is_refused(tenants: Tenants, exchange: Exchange, space: str) -> None:
    told = exchange(replace(tenants.job(space, "queue"), password="not-the-password"))

    assert told == Told(0, (), UNAUTHORIZED)


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_user_of_another_tenant_is_refused(
    tenants: Tenants, exchange: Exchange, space: str
) -> None:
    told = exchange(tenants.job_of_stranger(space, "queue"))

    assert told == Told(0, (), UNAUTHORIZED)


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_sender_without_permission_is_refused(
    tenants: Tenants, exchange: Exchange, space: str
) -> None:
    told = exchange(replace(tenants.job(space, "queue", "reader"), receivers=0))

    assert told == Told(0, (), UNAUTHORIZED)


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_receiver_without_permission_is_refused(
    tenants: Tenants, exchange: Exchange, space: str
) -> None:
    told = exchange(tenants.job(space, "queue", "writer"))

    assert told == Told(0, (), UNAUTHORIZED)


@CLIENTS
@pytest.mark.parametrize("space", list(SPACES))
def test_client_that_trusts_another_ca_does_not_connect(
    tenants: Tenants, exchange: Exchange, space: str
) -> None:
    told = exchange(replace(tenants.job(space, "queue"), ca=tenants.stranger.ca))

    assert told.accepted == 0
    assert told.refused not in ("", UNAUTHORIZED, "no answer")
