"""Qpid JMS with its default settings: what works on each type of address, and what is refused."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from controlplane.embedded.installation import Installation
from tests.support.foreign import Job
from tests.support.foreign import tenants as foreign_tenants
from tests.support.foreign.jms import program as jms
from tests.support.foreign.jms.program import Ended, Program
from tests.support.foreign.tenants import ARCHIVE, EVERY_ADDRESS, NEWS, Tenants

pytestmark = [pytest.mark.stack, pytest.mark.slow]

# Brokered spaces do what the broker does, which test_broker_semantics.py shows; each client costs a
# start of Java.
STANDARD_NOW = pytest.mark.parametrize(
    "space", [pytest.param("orders", marks=pytest.mark.drill), "fleet"]
)
IN_DRILLS = [("orders", "topic"), ("fleet", "multicast")]
LARGE_NOW = [("orders", "queue"), ("fleet", "topic")]
COPIED = ("topic", "multicast")
LARGE = 5 * 1000 * 1000
UNAUTHORIZED = "[condition = amqp:unauthorized-access]"
MECHANISMS = {"orders": "PLAIN", "fleet": "SCRAM-SHA-256"}
# In a standard space: what JMS has and a router does not do, and what it answers.
REFUSED = {
    "transaction": "[condition = amqp:precondition-failed]",
    "browser": "[condition = amqp:not-implemented]",
    "selector": "[condition = amqp:not-implemented]",
    "shared": "Remote peer does not support shared subscriptions",
    "shared durable": "Remote peer does not support shared subscriptions",
}


def drilled(cells: Sequence[Any], in_drills: Sequence[object]) -> list[Any]:
    """Return the cells of a test; those that show the same again are for the drills."""
    return [
        pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=pytest.mark.drill)
        if cell in in_drills
        else cell
        for cell in cells
    ]


@pytest.fixture(scope="module")
def tenants(running: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    """Tenants of this module's own."""
    with foreign_tenants.made(running, tmp_path_factory.mktemp("trusted")) as made:
        yield made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The client, compiled."""
    return jms.compiled(tmp_path_factory.mktemp("jms"))


def _named(type_: str) -> str:
    return f"{'topic' if type_ in COPIED else 'queue'}:{type_}"


def _received_all(job: Job) -> Ended:
    return Ended(job.messages, job.bodies, (), "", "")


@pytest.mark.parametrize(("space", "type_"), drilled(EVERY_ADDRESS, IN_DRILLS))
def test_client_sends_and_receives(
    tenants: Tenants, program: Program, space: str, type_: str
) -> None:
    job = replace(tenants.job(space, type_), copies=type_ in COPIED)

    ended = program.run("exchange", job, _named(type_))

    copies = job.receivers if job.copies else 1
    assert ended.refused == ""
    assert ended.accepted == job.messages
    assert Counter(ended.received) == dict.fromkeys(job.bodies, copies)


@STANDARD_NOW
def test_subscription_is_read_as_a_queue(tenants: Tenants, program: Program, space: str) -> None:
    job = replace(tenants.job(space, NEWS), receivers=1)

    ended = program.run("exchange", job, f"topic:{NEWS}", f"queue:{ARCHIVE}")

    assert ended == _received_all(job)


@pytest.mark.parametrize(
    ("space", "type_"),
    drilled(
        [at for at in EVERY_ADDRESS if at[1] != "multicast"],
        [at for at in EVERY_ADDRESS if at not in LARGE_NOW],
    ),
)
def test_large_message_arrives_whole(
    tenants: Tenants, program: Program, space: str, type_: str
) -> None:
    job = replace(tenants.job(space, type_), messages=1, receivers=1, size=LARGE)

    ended = program.run("exchange", job, _named(type_))

    assert ended == _received_all(job)


# In a standard space, at an anycast address: there, a question that failed does not stay.
@pytest.mark.parametrize(("space", "address"), [("fleet", "anycast"), ("orders", "queue")])
def test_question_is_answered_over_a_temporary_queue(
    tenants: Tenants, program: Program, space: str, address: str
) -> None:
    job = tenants.job(space, address)

    ended = program.run("ask", job, f"queue:{address}")

    answers = tuple(f"answer to {body}" for body in job.bodies)
    assert ended == Ended(job.messages, answers, (), "", "")


@STANDARD_NOW
def test_durable_subscription_keeps_what_its_owner_missed(
    tenants: Tenants, program: Program, space: str
) -> None:
    job = tenants.job(space, "topic")

    ended = program.run("subscribe", job, "topic:topic", id="ledger", name="kept")

    assert ended == _received_all(job)


def test_durable_subscription_ends_when_its_owner_says_so(
    tenants: Tenants, program: Program
) -> None:
    job = tenants.job("orders", "topic")

    ended = program.run("unsubscribe", job, "topic:topic", id="ledger", name="ended")

    assert ended == Ended(job.messages, ("last",), (), "", "")


def test_standard_space_says_that_a_durable_subscription_cannot_be_ended(
    tenants: Tenants, program: Program
) -> None:
    """The request names no address, so a router cannot know which broker it is for."""
    job = tenants.job("fleet", "topic")

    ended = program.run("unsubscribe", job, "topic:topic", id="ledger", name="ended")

    assert (ended.refused, ended.accepted) == ("JMSSecurityException", 0)
    assert ended.reason.endswith(UNAUTHORIZED)


@STANDARD_NOW
def test_subscriptions_of_two_clients_may_have_one_name(
    tenants: Tenants, program: Program, space: str
) -> None:
    job = replace(tenants.job(space, "topic"), copies=True)

    ended = program.run("namesakes", job, "topic:topic", id="ledger", name="ours")

    assert (ended.refused, ended.accepted) == ("", job.messages)
    assert Counter(ended.received) == dict.fromkeys(job.bodies, 2)


@pytest.mark.parametrize(
    ("what", "answer"), drilled(list(REFUSED.items()), [("shared", REFUSED["shared"])])
)
def test_standard_space_refuses_and_the_connection_goes_on(
    tenants: Tenants, program: Program, what: str, answer: str
) -> None:
    job = tenants.job("fleet", "queue")

    ended = program.run("try", job, "topic:topic", "queue:queue", what=what, name="some")

    assert ended.refused == "JMSException"
    assert ended.reason.endswith(answer)
    assert (ended.received, ended.browsed) == (job.bodies, ())


@pytest.mark.parametrize(
    "what",
    drilled(list(REFUSED), ["browser", "selector", "shared"]),
)
def test_brokered_space_does_what_a_router_refuses(
    tenants: Tenants, program: Program, what: str
) -> None:
    job = tenants.job("orders", "queue")

    ended = program.run("try", job, "topic:topic", "queue:queue", what=what, name="some")

    browsed = job.bodies if what == "browser" else ()
    assert ended == replace(_received_all(job), browsed=browsed)


@STANDARD_NOW
def test_wrong_password_is_refused(tenants: Tenants, program: Program, space: str) -> None:
    job = replace(tenants.job(space, "queue"), password="not-the-password")

    ended = program.run("exchange", job, "queue:queue")

    assert ended == _not_let_in(space)


@STANDARD_NOW
def test_user_of_another_tenant_is_refused(tenants: Tenants, program: Program, space: str) -> None:
    ended = program.run("exchange", tenants.job_of_stranger(space, "queue"), "queue:queue")

    assert ended == _not_let_in(space)


def _not_let_in(space: str) -> Ended:
    reason = f"Client failed to authenticate using SASL: {MECHANISMS[space]}"
    return Ended(0, (), (), "JMSSecuritySaslException", reason)


@STANDARD_NOW
@pytest.mark.parametrize(("user", "what"), [("reader", "producer"), ("writer", "consumer")])
def test_client_without_permission_is_refused(
    tenants: Tenants, program: Program, space: str, user: str, what: str
) -> None:
    ended = program.run("open", tenants.job(space, "queue", user), "queue:queue", what=what)

    assert ended.refused in ("JMSSecurityException", "IllegalStateException")
    assert ended.reason.endswith(UNAUTHORIZED)
