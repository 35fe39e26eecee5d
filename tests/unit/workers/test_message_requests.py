"""Operations on messages that fail: when they are tried again, and when they end."""

from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from django.utils import timezone

from controlplane.core import leases
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent, Lease, Operation
from tenants.actions import addresses, message_requests
from tenants.models import Address, MessageRequest
from tests.support.reconcile import rows
from tests.support.waiting import eventually
from workers import message_requests as worker_module
from workers.infra.base import Infra
from workers.message_requests import PATIENCE, MessageWorker, list_due
from workers.messaging.brokers.stored_messages import TooDeep

pytestmark = pytest.mark.django_db

ALICE = Actor("user:alice@example.com")


@pytest.fixture
def queue() -> Address:
    return rows.make_address(rows.make_space(rows.make_tenant()), "orders")


def worker(monkeypatch: pytest.MonkeyPatch, *, after: timedelta = timedelta()) -> MessageWorker:
    """Return a worker with a defect, ``after`` this time from now."""

    def fail(*_: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(MessageWorker, "_dispatch", fail)
    return MessageWorker(create_autospec(Infra), Path("/nowhere"), lambda: timezone.now() + after)


def test_a_change_that_fails_unexpectedly_is_tried_until_its_patience_ends(
    queue: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    purge = message_requests.purge(address=queue, by=ALICE)

    worker(monkeypatch).run(purge.subject_id)
    assert list_due() == [purge.subject_id]
    worker(monkeypatch, after=2 * PATIENCE).run(purge.subject_id)

    assert list_due() == []
    purge.refresh_from_db()
    assert (purge.state, purge.error_code) == ("Failed", "messages.failed")
    assert purge.subject_id in purge.error_message
    event = AuditEvent.objects.get(action="messages.purge.ended")
    assert event.reason == purge.error_message
    message_requests.purge(address=queue, by=ALICE)  # the next one is not refused


def test_whoever_waits_for_an_answer_is_told_at_once(
    queue: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        message_requests.browse(address=queue, by=ALICE),
        message_requests.send(address=queue, body="x", by=ALICE),
    ]

    for operation in asked:
        worker(monkeypatch).run(operation.subject_id)

    assert list_due() == []
    states = Operation.objects.filter(pk__in=[operation.pk for operation in asked])
    assert {operation.state for operation in states} == {"Failed"}


def test_a_page_out_of_reach_has_a_code_of_its_own(
    queue: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    browse = message_requests.browse(address=queue, after="broker-0:90000:1", by=ALICE)

    def fail(*_: object) -> None:
        raise TooDeep("The broker has passed 70000 of them.")

    monkeypatch.setattr(MessageWorker, "_dispatch", fail)
    MessageWorker(create_autospec(Infra), Path("/nowhere"), timezone.now).run(browse.subject_id)

    browse.refresh_from_db()
    assert (browse.state, browse.error_code) == ("Failed", "messages.too_deep")
    assert browse.error_message == "The broker has passed 70000 of them."


def test_a_change_without_progress_ends_although_it_is_tried_again_and_again(
    queue: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    purge = message_requests.purge(address=queue, by=ALICE)
    monkeypatch.setattr(MessageWorker, "_dispatch", lambda *_: 0.5)
    infra, nowhere = create_autospec(Infra), Path("/nowhere")

    again = MessageWorker(infra, nowhere, timezone.now).run(purge.subject_id)
    later = MessageWorker(infra, nowhere, lambda: timezone.now() + 2 * PATIENCE)

    assert again == 0.5
    assert later.run(purge.subject_id) is None
    purge.refresh_from_db()
    assert "a consumer holds them" in purge.error_message


def test_nothing_moves_into_a_queue_that_is_being_deleted(queue: Address) -> None:
    going = rows.make_address(queue.space, "going")
    addresses.delete(address=going, by=ALICE)
    going.refresh_from_db()

    with pytest.raises(Invalid, match="being deleted"):
        message_requests.move(address=queue, to=going, messages=None, by=ALICE)


def test_a_test_message_is_refused_while_nobody_may_send(queue: Address) -> None:
    queue.space.send_withdrawn = True

    with pytest.raises(message_requests.SendWithdrawn):
        message_requests.send(address=queue, body="x", by=ALICE)


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_takes_longer_than_its_lease_keeps_the_sampler_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_module, "_SAMPLE_LEASE_SECONDS", 0.3)
    lease = "sample:spc_1"

    def ends_at() -> datetime:
        return Lease.objects.get(name=lease).expires_at

    with worker_module._unsampled("spc_1"):
        first = ends_at()
        eventually(lambda: timezone.now() > first, "the first term is over")
        is_free = leases.acquire(lease, "a sampling cycle", 60)

    assert not is_free
    assert leases.acquire(lease, "a sampling cycle", 60)  # after the batch


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (1, None, "1 message"),
        (0, None, "0 messages"),
        (1, 1, "1 of 1 message"),
        (1, 3, "1 of 3 messages"),
    ],
)
def test_the_step_of_an_operation_counts_its_messages(
    queue: Address, monkeypatch: pytest.MonkeyPatch, done: int, total: int | None, text: str
) -> None:
    def carry_out(_: MessageWorker, request: MessageRequest) -> None:
        request.done, request.total = done, total

    monkeypatch.setattr(MessageWorker, "_dispatch", carry_out)
    purge = message_requests.purge(address=queue, by=ALICE)
    MessageWorker(create_autospec(Infra), Path("/nowhere"), timezone.now).run(purge.subject_id)

    purge.refresh_from_db()
    assert [step["message"] for step in purge.steps] == [text]
