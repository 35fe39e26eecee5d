"""The default target of dead letters, and what a broker deletes without one."""

import pytest

from controlplane.core.address_types import AddressSettings
from tenants import dead_letters
from tenants.actions import addresses
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["queue", "topic"])
def test_the_default_is_an_address_of_the_name_and_the_type(cast: Cast, kind: str) -> None:
    space = domain.space(cast.tenant, "brokered")
    before = dead_letters.default_of(space, kind)
    domain.address(space, "dead-letters", "deadletter")

    assert (before, dead_letters.default_of(space, kind)) == ("", "dead-letters")


def test_another_space_a_queue_of_the_name_and_a_leaving_address_are_no_default(
    cast: Cast,
) -> None:
    other, space = (domain.space(cast.tenant, "brokered") for _ in range(2))
    domain.address(other, "dead-letters", "deadletter")
    domain.address(space, "dead-letters", "queue")
    addresses.delete(address=other.addresses.get(), by=cast.by)

    assert dead_letters.default_of(space, "queue") == ""
    assert dead_letters.default_of(other, "queue") == ""


@pytest.mark.parametrize("kind", ["subscription", "deadletter"])
def test_types_without_targets_have_no_default(cast: Cast, kind: str) -> None:
    space = domain.space(cast.tenant, "brokered")
    domain.address(space, "dead-letters", "deadletter")

    assert dead_letters.with_default(space, kind, AddressSettings()) == AddressSettings()


def test_deleted_when_names_what_no_target_takes(cast: Cast) -> None:
    space = domain.space(cast.tenant, "brokered")
    dead = domain.address(space, "dead", "deadletter")
    short = domain.address(space, "short", "deadletter", message_ttl_ms=1000)
    bare = domain.address(space, "bare", "topic")
    safe = domain.address(space, "safe", "topic", dead_letter="dead")
    half = domain.address(space, "half", "queue", expiry="dead")
    of_bare = domain.address(space, "of-bare", "subscription", topic="bare")
    of_safe = domain.address(space, "of-safe", "subscription", topic="safe")
    direct = domain.address(domain.space(cast.tenant), "direct", "anycast")

    found = {
        row.address: dead_letters.deleted_when(row)
        for row in (dead, short, bare, safe, half, of_bare, of_safe, direct)
    }

    both = ["rejected", "expired"]
    assert found == {
        "dead": [],
        "short": ["expired"],
        "bare": both,
        "safe": [],
        "half": ["rejected"],
        "of-bare": both,
        "of-safe": [],
        "direct": [],
    }
