"""Carry out requests to browse, send, purge, delete, move or resend stored messages.

``tenants.actions.message_requests`` makes them.

``workers.tasks`` calls ``MessageWorker.run`` for one request, and ``list_due`` and ``delete_old``
periodically.

A change (purge, delete, move or resend) works in batches, and its worker may be killed at any time.
Each message changes in a transaction of the broker, so none is lost or doubled, and the next run
goes on with the messages that are left. The broker itself counts the messages that management takes
out of the queue. ``MessageRequest.progress`` stores this counter's value from before the change. So
the number of changed messages is right after a kill too. A batch holds the lease of the space's
sampling cycle, so that metering never reads the counters in the middle of a batch.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db import transaction

from controlplane.core import audit, leases, operations, secrets
from controlplane.core.audit import Actor
from controlplane.core.errors import Unavailable, WaypostError
from controlplane.core.instance_names import Kind
from tenants.models import MessageRequest, MessageRequestKind
from workers.infra.base import Infra, InfraError
from workers.instances import LocatedInstance, Locator
from workers.messaging import encoded_message, management
from workers.messaging.brokers import stored_messages
from workers.messaging.brokers.stored_messages import (
    MessageChanges,
    Position,
    StoredQueue,
    TooDeep,
)
from workers.messaging.management import Refused, Unreachable

logger = structlog.get_logger(__name__)

SUBJECT = "message_request"
KEPT = timedelta(minutes=5)  # how long the page of an ended browse can be read
LISTED = timedelta(days=30)  # how long a space's activity lists an ended request
PATIENCE = timedelta(minutes=10)  # a request without progress for this time fails
_PAGE = 50  # messages of one answer
_BATCH = 200  # messages that one request to the broker changes
_BROWSE_SECONDS = 15  # in which the broker must answer
_FARTHEST = 2**31 - 1  # the broker's integers
_LEASE_SECONDS = 15  # extended while the request runs
_SAMPLE_LEASE_SECONDS = 60
# A sampling cycle waits two seconds for its lease and tries ten times a second
# (``metering.sampling``). So a pause of this length after each second of work lets the cycle run.
_WORK_SECONDS = 1.0
_PAUSE_SECONDS = 0.15
_STALLED_BATCHES = 10  # that change nothing, then the request fails
_SLICE_SECONDS = 5.0  # after which a long change lets others use the worker
_STUCK = "Some messages cannot be changed: a consumer holds them, or the target is full."
_UNEXPECTED = (
    "Waypost failed for a reason of its own. What was changed stays changed; no message is lost. "
    "Try again, and if it fails again, tell the operator the number {request}."
)
_Kind = MessageRequestKind


@dataclass(frozen=True)
class MessageWorker:
    """Carries out ``MessageRequest`` rows at the brokers that ``infra`` runs."""

    infra: Infra
    identities_dir: Path
    clock: Callable[[], datetime]

    def run(self, request_id: str) -> float | None:
        """Carry out the request, unless it has ended or another worker runs it. Idempotent.

        A change of many messages pauses after ``_SLICE_SECONDS``, so that it never keeps a worker
        from other work. The call then returns the seconds until the caller must call again. None:
        the request has ended, or ``list_due`` returns it for a later run.

        After an unexpected error, or while a broker does not answer, a change stays open for later
        runs. It fails once it made no progress for ``PATIENCE``. A browse or a test message fails
        at once, because a person waits for the result. A refusal ends any request as failed.
        """
        with leases.kept(f"messages:{request_id}", uuid.uuid4().hex, _LEASE_SECONDS) as is_ours:
            rows = MessageRequest.objects.select_related("space", "address")
            request = rows.filter(pk=request_id, finished_at__isnull=True).first()
            if not is_ours or request is None:
                return None
            try:
                again = self._dispatch(request)
                if again is not None and not self._is_over(request):
                    return again
                self._end(request, _STUCK if again is not None else "")
            except (Unreachable, InfraError) as error:
                if self._is_over(request):
                    self._end(request, f"A broker does not answer: {error}. Try again.")
                logger.warning("messages cannot be reached", request=request_id, reason=str(error))
            except Refused as error:
                self._end(request, f"The broker refused this: {error}")
            except TooDeep as error:
                self._end(request, error.message, code=error.code)
            except WaypostError as error:
                self._end(request, error.message)
            except Exception:
                logger.exception("an operation on messages failed", request=request_id)
                if self._is_over(request):
                    self._end(request, _UNEXPECTED.format(request=request_id))
        return None

    def _is_over(self, request: MessageRequest) -> bool:
        is_awaited = request.kind in (_Kind.BROWSE, _Kind.SEND)
        return is_awaited or self.clock() - request.updated_at > PATIENCE

    def _dispatch(self, request: MessageRequest) -> float | None:
        """Carry out the request at the brokers of its address.

        Returns the seconds after which a change must go on; None if all is done.
        """
        brokers = self._brokers(request)
        if request.kind == _Kind.BROWSE:
            self._browse(request, brokers)
        elif request.kind == _Kind.SEND:
            self._send(request, brokers[0])
        else:
            for broker in brokers:
                again = _Change(request, broker).run()
                if again is not None:
                    return again
        return None

    def _brokers(self, request: MessageRequest) -> Sequence[LocatedInstance]:
        placed = request.address.placements.filter(broker__isnull=False)
        ordinals = set(placed.values_list("broker__ordinal", flat=True))
        found = Locator(self.infra, self.identities_dir).list_existing(request.space)
        brokers = [i for i in found if i.id.kind is Kind.BROKER and i.id.ordinal in ordinals]
        if len(brokers) < len(ordinals) or not brokers:
            raise Unreachable("a broker of the address does not run")
        return sorted(brokers, key=lambda broker: broker.id)

    def _browse(self, request: MessageRequest, brokers: Sequence[LocatedInstance]) -> None:
        """Put one page of messages, and the position of the next page, into ``request.sealed``.

        A position is ``<broker>:<messages passed>:<id of the last>``. The request's argument
        ``after`` is the position of this page; it is empty for the first page. The next position
        is empty after the last page. The caller saves the row.
        """
        name, *numbers = str(request.arguments["after"]).split(":")
        names = [broker.id.name for broker in brokers]
        at = names.index(name) if name in names else 0
        # A client may send any text, and an older version wrote no id of a last message.
        passed, last = (
            int(text) if text.isascii() and text.isdigit() else 0 for text in [*numbers, "", ""][:2]
        )
        listed = stored_messages.list_messages(
            brokers[at].target,
            request.address.address,
            Position(min(passed, _FARTHEST), last),
            count=_PAGE,
            seconds=_BROWSE_SECONDS,
        )
        after = ""
        if listed.next is not None:
            after = f"{names[at]}:{listed.next.passed}:{listed.next.last}"
        elif at + 1 < len(names):
            after = f"{names[at + 1]}:0"
        shown = [
            {**asdict(message), "id": f"{names[at]}:{message.id}"} for message in listed.messages
        ]
        request.sealed = secrets.encrypt(json.dumps({"messages": shown, "next": after}))
        request.done = len(shown)

    def _send(self, request: MessageRequest, broker: LocatedInstance) -> None:
        if request.progress:
            raise Unavailable(
                "A worker ended while it sent the message: browse to see whether it is there."
            )
        message = json.loads(secrets.decrypt(request.sealed))
        encoded = encoded_message.encode(
            message["body"], message["properties"], durable=message["durable"]
        )
        # A second run must not send a second message.
        request.progress = {broker.id.name: {"began": True}}
        request.save(update_fields=["progress", "updated_at"])
        connected = management.connected(broker.target, purpose="messages")
        with _unsampled(request.space_id), connected as client:
            MessageChanges(client).send(request.address.address, encoded)
        request.done = 1

    def _end(
        self, request: MessageRequest, problem: str = "", *, code: str = "messages.failed"
    ) -> None:
        # A test message is not needed any more. The page of a browse is read after the end
        # (``KEPT``).
        if request.kind != _Kind.BROWSE:
            request.sealed = ""
        with transaction.atomic():
            request.finished_at = self.clock()
            request.save(update_fields=["finished_at", "sealed", "done", "progress", "updated_at"])
            if problem:
                operations.fail(SUBJECT, request.pk, code=code, message=problem[:1000])
            else:
                _report(request, "done")
                operations.succeed(SUBJECT, request.pk, up_to_generation=1)
            if request.kind == _Kind.BROWSE:
                return
            address = request.address
            audit.record(
                Actor(request.requested_by),
                f"messages.{request.kind}.ended",
                audit.Subject("address", address.pk, address.address, request.space.tenant_id),
                after={"messages": request.done, "to": request.arguments.get("to", "")},
                reason=problem[:1000],
            )


class _Change:
    """Carries out a purge, delete, move or resend on one broker of the address."""

    def __init__(self, request: MessageRequest, broker: LocatedInstance) -> None:
        self._request, self._broker = request, broker
        self._queue = request.address.address
        self._others = request.done - self._state.get("done", 0)
        self._skip = 0

    @property
    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._request.progress.get(self._broker.id.name, {})
        return state

    def run(self) -> float | None:
        """Change the selected messages, or all; store how many were changed.

        Returns None once this broker is done. Otherwise some are left, because the request has a
        rate or ``_SLICE_SECONDS`` are over: returns the seconds after which to call again.
        """
        with management.connected(self._broker.target, purpose="messages") as client:
            changes = MessageChanges(client)
            self._begin(changes)
            selected = self._request.arguments.get("messages")
            if selected is None:
                return self._run_all(changes)
            mine = [id_.partition(":") for id_ in selected]
            ids = [int(number) for name, _, number in mine if name == self._broker.id.name]
            return self._run_selected(changes, ids)

    def _begin(self, changes: MessageChanges) -> None:
        """Store the broker's count of removed messages from before the change.

        That happens once for each incarnation of the broker. A later call in the same incarnation
        adds what an earlier run changed after its last report.
        """
        queue, boot = self._stored(changes), changes.incarnation()
        state = self._state
        if state.get("boot") == boot:
            self._count(changes)
            return
        if not state:
            total = queue.messages if "messages" not in self._request.arguments else 0
            self._request.total = (self._request.total or 0) + total
            newest = changes.find(self._queue, newest=0, skip=0, count=0).newest
            state = {"newest": newest, "done": 0}
        is_first = "boot" not in state
        state = {**state, "skip": 0}  # positions are of one incarnation
        base = changes.removed_from(queue) - state["done"]
        self._request.progress[self._broker.id.name] = {**state, "boot": boot, "base": base}
        self._save(progressed=is_first)

    def _run_selected(self, changes: MessageChanges, ids: Sequence[int]) -> float | None:
        """Change the chosen messages; stored ``skip`` is how many ids earlier runs handled."""
        rate: int | None = self._request.arguments.get("rate")
        size = min(_BATCH, rate) if rate else _BATCH
        began = time.monotonic()
        for at in range(self._state.get("skip", 0), len(ids), size):
            batch = ids[at : at + size]
            self._batch(changes, batch)
            self._request.progress[self._broker.id.name] = {**self._state, "skip": at + len(batch)}
            self._save(progressed=True)
            if at + len(batch) < len(ids) and (rate or time.monotonic() - began > _SLICE_SECONDS):
                return len(batch) / rate if rate else 0.0
        return None

    def _run_all(self, changes: MessageChanges) -> float | None:
        stalled, began = 0, time.monotonic()
        paused_at = began
        rate: int | None = self._request.arguments.get("rate")
        self._skip = self._state.get("skip", 0)
        size = min(_BATCH, rate) if rate else _BATCH
        while True:
            newest = self._state["newest"]
            page = changes.find(self._queue, newest=newest, skip=self._skip, count=size)
            if not page.messages:
                return None
            present = changes.queues()
            able = [m.id for m in page.messages if self._is_able(m.came_from, present)]
            # What cannot be changed stays in the queue, before everything that the next page must
            # have.
            self._skip += len(page.messages) - len(able)
            stalled = 0 if not able or self._batch(changes, able) else stalled + 1
            if stalled > _STALLED_BATCHES:
                raise Unavailable(_STUCK)
            now = time.monotonic()
            if (rate and able) or now - began > _SLICE_SECONDS:
                self._request.progress[self._broker.id.name] = {**self._state, "skip": self._skip}
                self._save(progressed=False)
                return len(able) / rate if rate else 0.0
            if now - paused_at > _WORK_SECONDS or stalled:
                time.sleep(_PAUSE_SECONDS)
                paused_at = time.monotonic()

    def _is_able(self, came_from: str, present: Any) -> bool:
        return self._request.kind != _Kind.RESEND or came_from in present

    def _batch(self, changes: MessageChanges, ids: Sequence[int]) -> int:
        kind = self._request.kind
        with _unsampled(self._request.space_id):
            if kind == _Kind.MOVE:
                to = self._request.arguments["to"]
                if to not in changes.queues():
                    raise Unavailable(
                        f"{to!r} has no part on {self._broker.id.name}, so these messages cannot "
                        "move there: choose another queue."
                    )
                done = changes.move(self._queue, ids, to)
            elif kind == _Kind.RESEND:
                done = changes.resend(self._queue, ids)
            else:
                done = changes.remove(self._queue, ids)
        self._count(changes)
        return done

    def _count(self, changes: MessageChanges) -> None:
        removed = changes.removed_from(self._stored(changes))
        before = self._state["done"]
        state = {**self._state, "done": removed - self._state["base"]}
        self._request.progress[self._broker.id.name] = state
        self._request.done = self._others + state["done"]
        self._save(progressed=state["done"] > before)

    def _save(self, *, progressed: bool) -> None:
        """Save progress and counts of the request, and show them in its operation.

        ``updated_at`` changes only if ``progressed``, because ``PATIENCE`` begins there.
        """
        with transaction.atomic():
            stored = ["progress", "done", "total", *(["updated_at"] if progressed else [])]
            self._request.save(update_fields=stored)
            _report(self._request, "running")

    def _stored(self, changes: MessageChanges) -> StoredQueue:
        queue = changes.queues().get(self._queue)
        if queue is None:
            raise Unreachable(f"{self._broker.id.name} does not hold the address yet")
        return queue


def list_due() -> list[str]:
    """Return the ids of the ``MessageRequest`` rows that have not ended, the oldest first."""
    rows = MessageRequest.objects.filter(finished_at__isnull=True).order_by("created_at", "id")
    return list(rows.values_list("id", flat=True))


def delete_old(now: datetime) -> int:
    """Delete old ``MessageRequest`` rows; return how many.

    A browse, with its page, is deleted ``KEPT`` after it ended, any other request ``LISTED`` after
    it ended. Requests that have not ended stay.
    """
    rows = MessageRequest.objects
    pages = rows.filter(kind=_Kind.BROWSE, finished_at__lt=now - KEPT).delete()[0]
    return pages + rows.filter(finished_at__lt=now - LISTED).delete()[0]


def _report(request: MessageRequest, state: str) -> None:
    of = f" of {request.total}" if request.total else ""
    noun = "message" if (request.total or request.done) == 1 else "messages"
    step = {"name": str(request.kind), "state": state, "message": f"{request.done}{of} {noun}"}
    operations.progress(SUBJECT, request.pk, [step], messages_changed=request.changed)


@contextmanager
def _unsampled(space_id: str) -> Iterator[None]:
    """Hold the lease of the space's sampling cycle, so that none reads the space in the block.

    A thread extends the lease, because a batch takes as long as a slow broker needs for it.

    Raises:
        Unreachable: another process had the lease for longer than ``_LEASE_SECONDS``.
    """
    name, holder = f"sample:{space_id}", uuid.uuid4().hex
    with leases.kept(name, holder, _SAMPLE_LEASE_SECONDS, patience=_LEASE_SECONDS) as won:
        if not won:
            raise Unreachable("the space is being sampled")
        yield
