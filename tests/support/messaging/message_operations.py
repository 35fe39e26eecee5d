"""A space with dead letters on real engines, and what tests of operations on messages ask of it."""

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from django.utils import timezone
from proton import Delivery

from controlplane.core import secrets
from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import Actor
from controlplane.core.instance_names import Kind
from controlplane.core.models import Operation
from tenants.actions import message_requests
from tenants.models import Address, AddressSpace, MessageRequest
from tests.support.messaging import amqp, routing_rig, worker_process
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.instances import Locator
from workers.message_requests import MessageWorker
from workers.messaging import management
from workers.messaging.brokers import stored_messages
from workers.messaging.brokers.stored_messages import MessageChanges, Position, StoredQueue
from workers.messaging.observed import ManagementTarget
from workers.metering import readers, sampling, sources
from workers.models import MeteredSource
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

_AT_ONCE = 100  # messages that a client sends before it looks at their outcomes
ALICE = Actor("user:alice@example.com")


@dataclass
class Operated:
    """A space of one broker: ``orders``, whose dead letters go to ``dead``, and ``other``.

    ``ports`` run it. alice is a messaging user who may send and receive everywhere. ``folder`` is
    for files of clients.
    """

    ports: Ports
    folder: Path
    space: AddressSpace
    addresses: dict[str, Address] = field(default_factory=dict)

    @classmethod
    def make(
        cls, ports: Ports, state_dir: Path, folder: Path, kind: str, *, plan: str = "small"
    ) -> "Operated":
        """Make the space; ``state_dir`` must be that of the ports' adapter. ``plan``: of queues."""
        ports = replace(ports, identities_dir=worker_process.identities_dir(state_dir))
        space = rows.make_space(rows.make_tenant(), kind=kind)
        made = cls(ports, folder, space)
        made.addresses["dead"] = rows.make_address(space, "dead", "deadletter")
        made.addresses["other"] = rows.make_address(space, "other", size=plan)
        settings = AddressSettings(dead_letter="dead")
        made.addresses["orders"] = rows.make_address(space, "orders", settings=settings, size=plan)
        rows.make_user(space, "alice", ("#", "send recv"))
        outcome = patience.look(space.id, ports)
        assert isinstance(outcome, Done), outcome
        space.refresh_from_db()
        return made

    @cached_property
    def worker(self) -> MessageWorker:
        """The worker, in this process."""
        return MessageWorker(self.ports.infra, self.ports.identities_dir, timezone.now)

    @cached_property
    def broker(self) -> ManagementTarget:
        """The management of the broker."""
        located = Locator(self.ports.infra, self.ports.identities_dir).list_existing(self.space)
        (found,) = [instance for instance in located if instance.id.kind is Kind.BROKER]
        return found.target

    def used(self) -> tuple[int, int]:
        """Take a sample; return messages in and out over every incarnation that was ever seen."""
        product = readers.product(self.ports.infra, self.ports.identities_dir, timezone.now)
        sampled = sampling.sample_all(product)
        assert all(one.is_applied and not one.silent for one in sampled), sampled
        found = [
            sources.state_of(row) for row in MeteredSource.objects.filter(space_id=self.space.pk)
        ]
        return sum(s.used["messages_in"] for s in found), sum(s.used["messages_out"] for s in found)

    def reject(self, *bodies: str) -> None:
        """Send messages to ``orders`` as alice and reject them all: they become dead letters.

        Returns once the broker has moved them, which may be after alice is gone.
        """
        moved = self.stored("dead").messages + len(bodies)
        with amqp.connected(self.space, self.folder, "alice", rows.PASSWORD) as alice:
            sender = alice.create_sender("orders")
            for at in range(0, len(bodies), _AT_ONCE):
                sent = [
                    routing_rig.hand_over(sender, amqp.message(body))
                    for body in bodies[at : at + _AT_ONCE]
                ]
                assert {routing_rig.outcome(sender, one) for one in sent} == {Delivery.ACCEPTED}
            sender.close()
            receiver = alice.create_receiver("orders", credit=_AT_ONCE)
            for _ in bodies:
                receiver.receive(timeout=10)
                receiver.reject()
            receiver.close()
        eventually(lambda: self.stored("dead").messages == moved, "all are dead letters")

    def receive(self, name: str, count: int) -> list[str]:
        """Receive and accept messages as alice; return their bodies."""
        with amqp.connected(self.space, self.folder, "alice", rows.PASSWORD) as alice:
            return amqp.receive(alice, name, count)

    def run(self, operation: Operation) -> MessageRequest:
        """Carry out a request to its end, which must be a success; return its row."""
        while self.worker.run(operation.subject_id) is not None:
            pass
        return done(operation)

    def browse(self, name: str, after: str = "") -> tuple[list[tuple[str, str]], str]:
        """Return a page of an address as (id, body), and the position of the next page."""
        operation = message_requests.browse(address=self.addresses[name], after=after, by=ALICE)
        page = json.loads(secrets.decrypt(self.run(operation).sealed))
        return [(one["id"], one["body"]) for one in page["messages"]], page["next"]

    def bodies(self, name: str) -> list[str]:
        """Return the bodies of all messages of an address; it must have one page of them."""
        page, after = self.browse(name)
        assert after == ""
        return [body for _, body in page]

    def walk(self, name: str) -> list[str]:
        """Return the bodies of all messages of an address, from the broker's management."""
        found: list[str] = []
        after: Position | None = Position()
        while after is not None:
            page = stored_messages.list_messages(self.broker, name, after, count=1_000, seconds=60)
            found += [str(message.body) for message in page.messages]
            after = page.next
        return found

    def stored(self, name: str) -> StoredQueue:
        """Return what the broker says of the queue."""
        with management.connected(self.broker, purpose="test") as client:
            return MessageChanges(client).queues()[name]

    def removed(self, name: str) -> int:
        """Return how many messages management has taken out of the queue."""
        with management.connected(self.broker, purpose="test") as client:
            changes = MessageChanges(client)
            return changes.removed_from(changes.queues()[name])


def done(operation: Operation) -> MessageRequest:
    """Return the row of a request that has succeeded."""
    operation.refresh_from_db()
    assert operation.state == "Succeeded", operation.error_message
    return MessageRequest.objects.get(pk=operation.subject_id)
