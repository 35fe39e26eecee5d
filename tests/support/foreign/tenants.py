"""What the foreign clients work on: a tenant with a space of each type, and a stranger's.

Called by the modules that run foreign clients, each with tenants of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from controlplane.demo.customers import EVERYTHING, Customer
from controlplane.embedded.installation import Installation
from tests.support.foreign import Job

# Addresses are named as their types.
SPACES = {
    "orders": ("brokered", ("queue", "topic")),
    "fleet": ("standard", ("queue", "topic", "anycast", "multicast")),
}
USERS = ("client", "reader", "writer")
EVERY_ADDRESS = [(space, type_) for space, (_, types) in SPACES.items() for type_ in types]
# In every space: a topic whose one subscription nothing else fills, and where that is read.
NEWS, ARCHIVE = "news", "news::archive"
_TOPIC, _SUBSCRIPTION = "topic", "subscription"


@dataclass(frozen=True)
class Tenants:
    """``logins``: by space and user."""

    logins: dict[tuple[str, str], Job]
    stranger: Job

    def job(self, space: str, address: str, user: str = "client") -> Job:
        """Return what a client of ``user`` does on ``address``."""
        return replace(self.logins[space, user], address=address)

    def job_of_stranger(self, space: str, address: str) -> Job:
        """Return what a client does that knows a user of another tenant only."""
        stranger = self.stranger
        job = self.job(space, address)
        return replace(job, user=stranger.user, password=stranger.password)


@contextmanager
def made(running: Installation, folder: Path) -> Iterator[Tenants]:
    """Make both tenants and their spaces; delete the spaces at last."""
    first = Customer(running.url, "Foreign Friends", folder)
    first.sign_up("team")
    for space in SPACES:
        _make_space(first, space)
    second = Customer(running.url, "Other Tenant", folder)
    second.sign_up("team")
    second.create_space("other", "brokered", "brokered-small")
    second.create_user("other", "stranger", EVERYTHING)
    logins = {(space, user): _job(first, space, user) for space in SPACES for user in USERS}
    yield Tenants(logins, _job(second, "other", "stranger"))
    for customer in (first, second):
        for space in list(customer.spaces):
            customer.delete_space(space)
        customer.api.close()


def _make_space(customer: Customer, space: str) -> None:
    kind, types = SPACES[space]
    customer.create_space(space, kind, f"{kind}-small")
    for type_ in types:
        customer.create_address(space, type_, type_, f"{kind}-small-{type_}")
    customer.create_address(space, NEWS, _TOPIC, f"{kind}-small-{_TOPIC}")
    plan = f"{kind}-small-{_SUBSCRIPTION}"
    name = ARCHIVE.removeprefix(f"{NEWS}::")
    customer.finish(customer.request_address(space, name, _SUBSCRIPTION, plan, topic=NEWS))
    customer.create_user(space, "client", EVERYTHING)
    for user, operation in (("reader", "recv"), ("writer", "send")):
        customer.create_user(space, user, [{"addresses": ["queue"], "operations": [operation]}])


def _job(customer: Customer, space: str, user: str) -> Job:
    login = customer.login(space, user)
    return Job(login.host, login.port, Path(login.ca_file), login.user, login.password, "")
