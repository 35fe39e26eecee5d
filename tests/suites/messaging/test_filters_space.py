"""Filters in a brokered space: from rows to subscribers on a real broker, and to the bill."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from proton import ConnectionException, ProtonException
from proton.reactor import DurableSubscription
from proton.utils import BlockingConnection, LinkDetached

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces, addresses, messaging_users
from tenants.models import Address, AddressSpace, MessagingUser
from tests.support.messaging import amqp, routing_rig
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.metering import readers, sampling, sources
from workers.metering.last_samples import LastSampler
from workers.metering.readers import Readers
from workers.models import MeteredSource
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def product(real_ports: Ports) -> Readers:
    return readers.product(real_ports.infra, real_ports.identities_dir, real_ports.clock)


@pytest.fixture
def ports(real_ports: Ports, product: Readers) -> Ports:
    """The real ports with the product's last samples."""
    return Ports(**{**real_ports.__dict__, "metering": LastSampler(product)})


@pytest.fixture
def space(ports: Ports) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant())
    rows.make_address(made, "news/eu", "topic")
    rows.make_address(made, "news/jobs")
    rows.make_user(made, "owner", ("#", "send recv"))
    rows.make_user(made, "member", ("news/#", "recv"))
    rows.make_user(made, "outsider", ("news/eu", "recv"))
    settle(made, ports)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    settle(made, ports)
    assert made.deleted_at is not None


def settle(space: AddressSpace, ports: Ports, *, full: bool = False) -> None:
    if full:
        AddressSpace.objects.filter(pk=space.pk).update(last_full_pass_at=None)
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def used(space: AddressSpace) -> tuple[int, int]:
    """Messages in and out over every incarnation that was ever seen."""
    states = [sources.state_of(row) for row in MeteredSource.objects.filter(space_id=space.id)]
    return sum(s.used["messages_in"] for s in states), sum(s.used["messages_out"] for s in states)


def refusal_of(connection: BlockingConnection, address: str) -> str:
    """Return the condition with which a receiver is refused."""
    with pytest.raises(LinkDetached) as refusal:
        connection.create_receiver(address)
    return str(refusal.value.condition)


def is_closed(connection: BlockingConnection) -> bool:
    """Return whether the peer has closed the connection; looks at it without waiting long."""
    try:
        connection.wait(lambda: False, timeout=0.2)
    except ProtonException as error:
        return isinstance(error, ConnectionException) and "timed out" not in str(error)
    return False


def test_every_message_of_a_filter_is_billed_once(
    space: AddressSpace, ports: Ports, product: Readers, tmp_path: Path
) -> None:
    """Once in, at its topic, and once out for each subscriber, at the filter or at the topic."""
    with amqp.connected(space, tmp_path, "owner", rows.PASSWORD) as owner:
        one, two = (owner.create_receiver("news/#", name=name, credit=9) for name in "ab")
        own = owner.create_receiver("news/eu", credit=9)
        amqp.send(owner, "news/eu", "1", "2", "3")
        amqp.send(owner, "news/jobs", "not for filters")
        for receiver in (one, two, own):
            assert routing_rig.take(receiver, 3) == ["1", "2", "3"]
        sampling.sample_all(product)
        eventually(lambda: _sampled(space, product) == (4, 9), "all is sampled")

    sampling.sample_all(product)
    settle(space, ports, full=True)
    assert used(space) == (4, 9)
    [broker] = MeteredSource.objects.filter(space_id=space.id).exclude(boot_id="space")
    state = sources.state_of(broker).addresses
    counted = {
        name: (address.type, address.counters["messages_in"], address.counters["messages_out"])
        for name, address in state.items()
    }
    assert counted == {
        "news/eu": ("topic", 3, 3),
        "news/jobs": ("queue", 1, 0),
        "news/#": ("topic", 0, 6),
    }


def _sampled(space: AddressSpace, product: Readers) -> tuple[int, int]:
    sampling.sample_all(product)
    return used(space)


@pytest.mark.drill
def test_a_lost_permission_closes_the_link_to_a_filter_in_the_same_pass(
    space: AddressSpace, ports: Ports, tmp_path: Path
) -> None:
    with (
        amqp.connected(space, tmp_path, "member", rows.PASSWORD) as member,
        amqp.connected(space, tmp_path, "outsider", rows.PASSWORD) as outsider,
        amqp.connected(space, tmp_path, "owner", rows.PASSWORD) as owner,
    ):
        theirs = member.create_receiver("news/#", credit=5)
        outsider.create_receiver("news/eu")
        assert refusal_of(outsider, "news/#") == "amqp:unauthorized-access"
        ours = owner.create_receiver("#", credit=5)
        messaging_users.update(
            user=MessagingUser.objects.get(space=space, name="member"),
            permissions=[{"addresses": ["news/eu"], "operations": ["recv"]}],
            by=SYSTEM,
        )

        settle(space, ports)

        eventually(lambda: is_closed(member), "the connection is closed")
        amqp.send(owner, "news/eu", "not for the member")
        assert routing_rig.take(ours, 1) == ["not for the member"]
        assert routing_rig.waiting(theirs) == 0
        assert not is_closed(outsider)
    with amqp.connected(space, tmp_path, "member", rows.PASSWORD) as member:
        member.create_receiver("news/eu")
        assert refusal_of(member, "news/#") == "amqp:unauthorized-access"


def test_full_passes_keep_subscriptions_and_topics_join_and_leave(
    space: AddressSpace, ports: Ports, tmp_path: Path
) -> None:
    durable = DurableSubscription()
    with amqp.connected(space, tmp_path, "owner", rows.PASSWORD) as owner:
        kept = owner.create_receiver("news/*", name="kept", credit=0, options=durable)
        name = owner.container.container_id
        kept.link.detach()
        routing_rig.flush(owner)
        settle(space, ports, full=True)
        late = rows.make_address(space, "news/late", "topic")
        settle(space, ports)
        amqp.send(owner, "news/eu", "early")
        amqp.send(owner, "news/late", "late")
        addresses.delete(address=Address.objects.get(pk=late.pk), by=SYSTEM)
        settle(space, ports, full=True)
        amqp.send(owner, "news/eu", "last")

        found = owner.create_receiver(f"news/*::{name}.kept", credit=9)
        assert routing_rig.take(found, 3) == ["early", "late", "last"]
        found.close()
        messaging_users.revoke(user=MessagingUser.objects.get(space=space, name="owner"), by=SYSTEM)
        messaging_users.revoke(
            user=MessagingUser.objects.get(space=space, name="member"), by=SYSTEM
        )

        settle(space, ports, full=True)

    # Nobody may read the filter any more, so it is deleted with its subscription.
    rows.make_user(space, "next", ("#", "recv"))
    settle(space, ports, full=True)
    with amqp.connected(space, tmp_path, "next", rows.PASSWORD) as other:
        assert refusal_of(other, f"news/*::{name}.kept") == "amqp:not-found"
