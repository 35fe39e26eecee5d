"""Operations on messages against a real broker: pages, a resend that is killed, no bill."""

import json
from pathlib import Path

import pytest
from django.utils import timezone

from controlplane.core import secrets
from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import Actor
from controlplane.core.models import AuditEvent, Lease, Operation
from tenants.actions import message_requests
from tenants.models import Address, AddressSpace, MessageRequest
from tests.support.messaging import amqp
from tests.support.reconcile import patience, rows
from workers.message_requests import KEPT, MessageWorker, delete_old
from workers.messaging.brokers.stored_messages import MessageChanges
from workers.metering import readers, sampling, sources
from workers.models import MeteredSource
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]

ALICE = Actor("user:alice@example.com")
DEAD_LETTERS = 500


class Killed(BaseException):
    """The worker's process ended here."""


def used(space: AddressSpace) -> tuple[int, int]:
    """Messages in and out over every incarnation that was ever seen."""
    states = [sources.state_of(row) for row in MeteredSource.objects.filter(space_id=space.id)]
    return sum(s.used_in for s in states), sum(s.used_out for s in states)


def answer(operation: Operation) -> dict[str, object]:
    row = MessageRequest.objects.get(pk=operation.subject_id)
    found: dict[str, object] = json.loads(secrets.decrypt(row.sealed))
    return found


def ended(operation: Operation) -> Operation:
    operation.refresh_from_db()
    assert operation.state == "Succeeded", operation.error_message
    return operation


def test_dead_letters_return_once_although_the_worker_is_killed_and_nothing_is_billed(
    real_ports: Ports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = rows.make_space(rows.make_tenant())
    dead = rows.make_address(space, "dead")
    orders = rows.make_address(space, "orders", settings=AddressSettings(dead_letter="dead"))
    rows.make_user(space, "alice", ("#", "send recv"))
    assert isinstance(patience.look(space.id, real_ports), Done)
    worker = MessageWorker(real_ports.infra, real_ports.identities_dir, timezone.now)
    product = readers.product(real_ports.infra, real_ports.identities_dir, timezone.now)
    send_and_reject(space, tmp_path)
    sampling.sample_all(product)
    before = used(space)

    browse_first_page(worker, dead)
    resend = message_requests.resend(address=dead, messages=None, by=ALICE)
    with pytest.raises(message_requests.ChangeRunning):
        message_requests.purge(address=dead, by=ALICE)
    kill_in_the_second_batch(monkeypatch)
    with pytest.raises(Killed):
        run_to_its_end(worker, resend)
    Lease.objects.all().delete()  # those of a killed worker expire
    sampling.sample_all(product)
    assert used(space) == before
    run_to_its_end(worker, resend)
    done = MessageRequest.objects.get(pk=resend.subject_id)
    assert (done.done, done.total) == (DEAD_LETTERS, DEAD_LETTERS)
    assert ended(resend).steps[0]["message"] == f"{DEAD_LETTERS} of {DEAD_LETTERS} messages"

    delete_one_and_send_one(worker, space, orders.address)
    sampling.sample_all(product)
    assert used(space) == before  # operations are not billed

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as alice:
        bodies = amqp.receive(alice, "orders", DEAD_LETTERS)
    assert sorted(bodies) == sorted(["test", *(f"m{n}" for n in range(1, DEAD_LETTERS))])
    sampling.sample_all(product)
    assert used(space) == (before[0], before[1] + DEAD_LETTERS)  # her own traffic is

    events = AuditEvent.objects.filter(action="messages.resend.ended", actor=ALICE.name)
    assert [event.after["messages"] for event in events] == [DEAD_LETTERS]
    assert not AuditEvent.objects.filter(after__icontains="m1").exists()
    delete_old(timezone.now() + KEPT)
    kept = MessageRequest.objects.values_list("kind", "sealed").order_by("kind")
    assert list(kept) == [("delete", ""), ("resend", ""), ("send", "")]


def run_to_its_end(worker: MessageWorker, change: Operation) -> None:
    """Run a change as often as it asks for: a busy machine does less of it in each run."""
    while worker.run(change.subject_id) is not None:
        pass


def test_chosen_dead_letters_return_at_the_rate_too(real_ports: Ports, tmp_path: Path) -> None:
    space = rows.make_space(rows.make_tenant())
    dead = rows.make_address(space, "dead")
    rows.make_address(space, "orders", settings=AddressSettings(dead_letter="dead"))
    rows.make_user(space, "alice", ("#", "send recv"))
    assert isinstance(patience.look(space.id, real_ports), Done)
    worker = MessageWorker(real_ports.infra, real_ports.identities_dir, timezone.now)
    send_and_reject(space, tmp_path, 6)
    browse = message_requests.browse(address=dead, by=ALICE)
    worker.run(browse.subject_id)
    page = answer(browse)
    assert isinstance(page["messages"], list)
    chosen = [message["id"] for message in page["messages"]][:5]

    resend = message_requests.resend(address=dead, messages=chosen, rate=2, by=ALICE)
    runs = []
    for _ in range(3):
        again = worker.run(resend.subject_id)
        runs.append((again, MessageRequest.objects.get(pk=resend.subject_id).done))

    assert runs == [(1.0, 2), (1.0, 4), (None, 5)]
    ended(resend)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as alice:
        assert amqp.receive(alice, "orders", 5) == [f"m{n}" for n in range(5)]


def send_and_reject(space: AddressSpace, folder: Path, count: int = DEAD_LETTERS) -> None:
    """Make ``count`` messages of alice dead letters."""
    with amqp.connected(space, folder, "alice", rows.PASSWORD) as alice:
        amqp.send(alice, "orders", *(f"m{n}" for n in range(count)))
        receiver = alice.create_receiver("orders", credit=count)
        for _ in range(count):
            receiver.receive(timeout=5)
            receiver.reject()
        receiver.close()


def browse_first_page(worker: MessageWorker, dead: Address) -> None:
    browse = message_requests.browse(address=dead, by=ALICE)
    worker.run(browse.subject_id)
    ended(browse)
    page = answer(browse)
    assert isinstance(page["messages"], list)
    assert [message["body"] for message in page["messages"]] == [f"m{n}" for n in range(50)]
    assert page["next"] == "broker-0:50"


def kill_in_the_second_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker has changed 70 messages then, and nothing was written down."""
    really = MessageChanges.resend
    batches = 0

    def resend(self: MessageChanges, queue: str, ids: list[int]) -> int:
        nonlocal batches
        batches += 1
        if batches == 2:
            really(self, queue, ids[:70])
            raise Killed
        return really(self, queue, ids)

    monkeypatch.setattr(MessageChanges, "resend", resend)


def delete_one_and_send_one(worker: MessageWorker, space: AddressSpace, name: str) -> None:
    """Delete the first message, and send one."""
    address = space.addresses.get(address=name)
    browse = message_requests.browse(address=address, by=ALICE)
    worker.run(browse.subject_id)
    page = answer(browse)
    assert isinstance(page["messages"], list)
    first = next(m["id"] for m in page["messages"] if m["body"] == "m0")
    delete = message_requests.delete(address=address, messages=[first], by=ALICE)
    worker.run(delete.subject_id)
    ended(delete)
    send = message_requests.send(address=address, body="test", properties={"n": 1}, by=ALICE)
    worker.run(send.subject_id)
    ended(send)
