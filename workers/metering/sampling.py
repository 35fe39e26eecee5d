"""The sampling cycle: read every instance of some spaces, store the states, reserve the rows.

Called by the periodic task for all spaces, by the close (which cuts a bucket), and before restarts
and teardown.

* Instances are read outside any transaction; a space's snapshots are applied in one transaction.
* Only one cycle at a time reads a space (lease ``sample:<space>``), so no snapshot is applied after
  a newer one.
* An error of one instance or space is logged and gives no sample; all others are still read.
"""

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Max
from django.utils import timezone

from controlplane.core import leases
from controlplane.core.errors import WaypostError
from plans.models import Invoice
from tenants import queries
from tenants.models import AddressSpace
from workers.infra.base import InfraError
from workers.messaging.observed import InstanceSnapshot
from workers.metering import collector, landing, sources
from workers.metering.collector import Reading
from workers.metering.readers import Instance, NoAnswer, Readable, Readers
from workers.metering.source_states import SourceState

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_AT_ONCE = 8  # spaces, and connections to instances
_POLL_SECONDS = 0.1
# A stored sample this far in the future comes from a clock that was set back since.
_CLOCK_SET_BACK = timedelta(minutes=2)


@dataclass(frozen=True)
class Sampled:
    """The result of one cycle for one space.

    ``reached`` and ``silent`` are names of instances. ``is_applied`` is False if another cycle was
    reading the space, or if the space could not be read or stored at all. In the second case
    ``silent`` has one text for the whole space.
    """

    space_id: str
    is_applied: bool
    reached: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cut:
    """Where a close ends the running bucket; ``at`` is None in an ordinary cycle."""

    at: datetime | None = None


def list_spaces() -> list[AddressSpace]:
    """Return the spaces that ordinary cycles sample, ordered by id."""
    return list(queries.list_sampled_spaces())


def sample_all(readers: Readers) -> list[Sampled]:
    """Sample every space once; skip a space that another cycle is reading."""
    return sample(list_spaces(), readers)


def sample(
    spaces: Iterable[AddressSpace], readers: Readers, *, cut: Cut | None = None, patience: float = 0
) -> list[Sampled]:
    """Read and apply one cycle of ``spaces``.

    An instance that does not answer is ``silent``; the others are applied. Several spaces are read
    at once, so that one slow instance does not delay all others. ``patience`` is the time in
    seconds to wait for another cycle that is reading the same space.

    Raises:
        OperationalError, InterfaceError: the database does not answer; the snapshots are lost.
    """
    done: list[Sampled] = []
    waiting = iter(spaces)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while chunk := list(islice(waiting, _AT_ONCE)):
            with ExitStack() as stack:  # holds the leases until the whole chunk is applied
                begun = [_begin(space, readers, pool, (stack, patience)) for space in chunk]
                done += [_finish(reading, cut or Cut()) for reading in begun]
    return done


@dataclass(frozen=True)
class _Begun:
    """A space that is being read.

    ``running`` is None if another cycle is reading the space, or if it ``is_unreadable``.
    """

    space: AddressSpace
    started_at: datetime
    types: Mapping[str, str]
    running: Mapping[str, Future[tuple[InstanceSnapshot, datetime]]] | None
    is_unreadable: bool = False


def _begin(
    space: AddressSpace,
    readers: Readers,
    pool: ThreadPoolExecutor,
    context: tuple[ExitStack, float],
) -> _Begun:
    stack, patience = context
    if not _hold(space, stack, patience):
        return _Begun(space, timezone.now(), {}, None)
    started_at = timezone.now()  # after the wait, so what another cycle applied then is older
    readable = _find(readers, space)
    if readable is None:
        return _Begun(space, started_at, {}, None, is_unreadable=True)
    running = {one.name: pool.submit(_timed, one) for one in readable.instances}
    return _Begun(space, started_at, readable.types, running)


def _finish(begun: _Begun, cut: Cut) -> Sampled:
    space = begun.space
    if begun.running is None:
        return _unread(space) if begun.is_unreadable else Sampled(space.id, is_applied=False)
    seen = {name: _answer(space, name, future) for name, future in begun.running.items()}
    answers = {name: answer for name, answer in seen.items() if answer is not None}
    # One time for all snapshots of the reading, no earlier than any of them.
    taken_at = max((at for _, at in answers.values()), default=timezone.now())
    snapshots = {name: snapshot for name, (snapshot, _) in answers.items()}
    reading = Reading(space.tenant_id, space.id, taken_at, snapshots, begun.types)
    silent = frozenset(seen) - frozenset(snapshots)
    with _guarded("samples cannot be stored", space=space.id):
        applied = apply(reading, started_at=begun.started_at, cut=cut)
        return Sampled(space.id, applied, frozenset(snapshots), silent)
    return _unread(space)  # ``_guarded`` suppressed an error


def _unread(space: AddressSpace) -> Sampled:
    silent = frozenset({f"every instance of {space.name}"})
    return Sampled(space.id, is_applied=False, silent=silent)


@contextmanager
def _guarded(event: str, **about: str) -> Iterator[None]:
    """Log and suppress errors of the block, except if the database does not answer."""
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except (NoAnswer, InfraError, WaypostError) as error:
        logger.warning(event, **about, reason=str(error))
    except Exception:  # one faulty instance must not stop the metering of all others
        logger.exception(event, **about)


def apply(reading: Reading, *, started_at: datetime, cut: Cut | None = None) -> bool:
    """Store a reading and reserve its rows, in one transaction.

    Returns False, and stores nothing, if a newer reading was applied after ``started_at``: the
    smaller counters of this one would look like counter resets.
    """
    with transaction.atomic():
        # A snapshot of a replaced incarnation would end the new one.
        outdated = sources.outdated(reading.space_id, reading.instances)
        current = {n: s for n, s in reading.instances.items() if n not in outdated}
        states = sources.load_space(reading.space_id, current)
        if any(_is_newer(state, started_at) for state in states):
            return False
        read = Reading(
            reading.tenant_id, reading.space_id, reading.taken_at, current, reading.types
        )
        cut_at = cut.at if cut else None
        until = cut_at or reading.taken_at
        begins_at = None if states else _last_close(reading.tenant_id, until)
        step = collector.advance(states, read, cut_at=cut_at, begins_at=begins_at)
        sources.save(step.states, reading.taken_at)
        landing.reserve(step.rows)
    return True


def _last_close(tenant_id: str, until: datetime) -> datetime | None:
    """Return the end of the tenant's last invoice: a new space's first bucket begins no earlier."""
    closes = Invoice.objects.filter(tenant_id=tenant_id, ends_at__lt=until)
    last: datetime | None = closes.aggregate(last=Max("ends_at"))["last"]
    return last


def _is_newer(state: SourceState, started_at: datetime) -> bool:
    if state.sampled_at is None:
        return False
    # Far ahead is not a newer cycle: the clock was set back, and sampling must go on.
    return timedelta(0) < state.sampled_at - started_at < _CLOCK_SET_BACK


def _find(readers: Readers, space: AddressSpace) -> Readable | None:
    with _guarded("instances cannot be listed", space=space.id):
        return readers.find(space)
    return None


def _timed(instance: Instance) -> tuple[InstanceSnapshot, datetime]:
    return instance.read(), timezone.now()


def _answer(
    space: AddressSpace, name: str, reading: Future[tuple[InstanceSnapshot, datetime]]
) -> tuple[InstanceSnapshot, datetime] | None:
    with _guarded("no sample", space=space.id, instance=name):
        return reading.result()
    return None


def _hold(space: AddressSpace, stack: ExitStack, patience: float) -> bool:
    """Hold the space's lease until ``stack`` ends; return False if another cycle keeps it."""
    name, holder = f"sample:{space.id}", uuid.uuid4().hex
    deadline = time.monotonic() + patience
    while not leases.acquire(name, holder, _LEASE_SECONDS):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    stack.callback(leases.release, name, holder)
    return True
