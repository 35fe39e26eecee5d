"""Clients that are not ours, on every type of address: let in, and refused in the protocol's words.

Nothing of Waypost's own messaging code takes part on the client's side.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from controlplane.demo.customers import EVERYTHING, Customer
from controlplane.embedded.installation import Installation
from tests.e2e.foreign import Job, Told, node, plain_proton

pytestmark = [pytest.mark.stack, pytest.mark.slow]

SPACES = {
    "orders": ("brokered", ("queue", "topic")),
    "fleet": ("standard", ("queue", "topic", "anycast", "multicast")),
}
USERS = ("client", "reader", "writer")
EVERY_ADDRESS = [(space, type_) for space, (_, types) in SPACES.items() for type_ in types]
CLIENTS = pytest.mark.parametrize(
    "exchange", [node.exchange, plain_proton.exchange], ids=["rhea", "proton"]
)
UNAUTHORIZED = "amqp:unauthorized-access"
Exchange = Callable[[Job], Told]


@dataclass(frozen=True)
class Tenants:
    """``logins``: by space and user."""

    logins: dict[tuple[str, str], Job]
    stranger: Job

    def job(self, space: str, address: str, user: str = "client") -> Job:
        return replace(self.logins[space, user], address=address)


@pytest.fixture(scope="module")
def tenants(running: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    """A tenant with a space of each type, whose addresses are named as their types; a stranger."""
    folder = tmp_path_factory.mktemp("trusted")
    first = Customer(running.url, "Foreign Friends", folder)
    first.sign_up("team")
    for space, (kind, types) in SPACES.items():
        first.create_space(space, kind, f"{kind}-small")
        for type_ in types:
            first.create_address(space, type_, type_, f"{kind}-small-{type_}")
        first.create_user(space, "client", EVERYTHING)
        for user, operation in (("reader", "recv"), ("writer", "send")):
            first.create_user(space, user, [{"addresses": ["queue"], "operations": [operation]}])
    second = Customer(running.url, "Other Tenant", folder)
    second.sign_up("team")
    second.create_space("other", "brokered", "brokered-small")
    second.create_user("other", "stranger", EVERYTHING)
    logins = {(space, user): _job(first, space, user) for space in SPACES for user in USERS}
    stranger = _job(second, "other", "stranger")
    yield Tenants(logins, stranger)
    for customer in (first, second):
        for space in list(customer.spaces):
            customer.delete_space(space)
        customer.api.close()


def _job(customer: Customer, space: str, user: str) -> Job:
    login = customer.login(space, user)
    return Job(login.host, login.port, Path(login.ca_file), login.user, login.password, "")


@CLIENTS
@pytest.mark.parametrize(("space", "type_"), EVERY_ADDRESS)
def test_client_sends_and_receives(
    tenants: Tenants, exchange: Exchange, space: str, type_: str
) -> None:
    job = replace(tenants.job(space, type_), copies=type_ in ("topic", "multicast"))

    told = exchange(job)

    each = job.receivers if job.copies else 1
    assert told.refused == ""
    assert told.accepted == job.messages
    assert Counter(told.received) == {f"message {n}": each for n in range(job.messages)}


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
    stranger = tenants.stranger
    job = replace(tenants.job(space, "queue"), user=stranger.user, password=stranger.password)

    told = exchange(job)

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
