"""One round: read every instance of some spaces, remember what was seen, reserve what must land.

Called by the beat's round over all spaces, by the close (which cuts a bucket) and before teardown.
Reads run without a transaction; what was read is applied per space in one. A space is read by one
round at a time (lease ``sample:<space>``), so no snapshot is applied after a newer one. What is odd
about one instance or space is its own: it is said, is no sample, and every other one is read.
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
from workers.metering.lives import SourceState
from workers.metering.readers import Instance, NoAnswer, Readable, Readers

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_AT_ONCE = 8
_POLL_SECONDS = 0.1
_CLOCK_SET_BACK = timedelta(minutes=2)


@dataclass(frozen=True)
class Sampled:
    """What one round saw of one space. ``is_applied`` False: another round was at it.

    Or it could not be read or remembered at all: then ``silent`` names it as a whole.
    """

    space_id: str
    is_applied: bool
    reached: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cut:
    """A close cuts the running bucket ``at`` this instant; None: an ordinary round."""

    at: datetime | None = None


def list_spaces() -> list[AddressSpace]:
    """Return the spaces that ordinary rounds sample, by id."""
    return list(queries.list_sampled_spaces())


def round_all(readers: Readers) -> list[Sampled]:
    """Sample every space once; a space that another round is reading is left to that one."""
    return sample(list_spaces(), readers)


def sample(
    spaces: Iterable[AddressSpace], readers: Readers, *, cut: Cut | None = None, patience: float = 0
) -> list[Sampled]:
    """Read and apply one round of ``spaces``; ``patience`` is how long to wait for other rounds.

    An instance that does not answer is ``silent``; the others are applied all the same. Some
    spaces are read at once, so that one slow instance does not hold up all others.

    Raises:
        OperationalError, InterfaceError: the database is away; what was read is forgotten.
    """
    done: list[Sampled] = []
    waiting = iter(spaces)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while chunk := list(islice(waiting, _AT_ONCE)):
            with ExitStack() as stack:
                begun = [_begin(space, readers, pool, (stack, patience)) for space in chunk]
                done += [_finish(each, cut or Cut()) for each in begun]
    return done


@dataclass(frozen=True)
class _Begun:
    """A space that is being read; ``running`` None: another round has it, or ``is_unreadable``."""

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
    started_at = timezone.now()  # behind the wait: what another round applied in it is older
    readable = _find(readers, space)
    if readable is None:
        return _Begun(space, started_at, {}, None, is_unreadable=True)
    running = {each.name: pool.submit(_timed, each) for each in readable.instances}
    return _Begun(space, started_at, readable.types, running)


def _finish(begun: _Begun, cut: Cut) -> Sampled:
    space = begun.space
    if begun.running is None:
        return _unread(space) if begun.is_unreadable else Sampled(space.id, is_applied=False)
    seen = {name: _answer(space, name, each) for name, each in begun.running.items()}
    answers = {name: answer for name, answer in seen.items() if answer is not None}
    taken_at = max((at for _, at in answers.values()), default=timezone.now())
    snapshots = {name: snapshot for name, (snapshot, _) in answers.items()}
    reading = Reading(space.tenant_id, space.id, taken_at, snapshots, begun.types)
    silent = frozenset(seen) - frozenset(snapshots)
    with _guarded("a reading cannot be remembered", space=space.id):
        applied = apply(reading, started_at=begun.started_at, cut=cut)
        return Sampled(space.id, applied, frozenset(snapshots), silent)
    return _unread(space)


def _unread(space: AddressSpace) -> Sampled:
    every = frozenset({f"every instance of {space.name}"})
    return Sampled(space.id, is_applied=False, silent=every)


@contextmanager
def _guarded(event: str, **about: str) -> Iterator[None]:
    """Log whatever goes wrong and go on behind the block; a database that is away is raised."""
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except (NoAnswer, InfraError, WaypostError) as error:
        logger.warning(event, **about, reason=str(error))
    except Exception:  # one odd instance must not end the metering of all others
        logger.exception(event, **about)


def apply(reading: Reading, *, started_at: datetime, cut: Cut | None = None) -> bool:
    """Remember a reading and reserve its rows, in one transaction.

    False when a newer reading was applied after ``started_at``: this one must be forgotten, for
    its smaller counters would look like a new life.
    """
    with transaction.atomic():
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
    """Where the tenant's bills reach to: the first bucket of a new space must not begin before."""
    closes = Invoice.objects.filter(tenant_id=tenant_id, ends_at__lt=until)
    last: datetime | None = closes.aggregate(last=Max("ends_at"))["last"]
    return last


def _is_newer(state: SourceState, started_at: datetime) -> bool:
    if state.sampled_at is None:
        return False
    # Far ahead is no newer round but a clock that was set back: sampling must go on.
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
    """Take the space's lease until ``stack`` ends; False when another round keeps it."""
    name, holder = f"sample:{space.id}", uuid.uuid4().hex
    deadline = time.monotonic() + patience
    while not leases.acquire(name, holder, _LEASE_SECONDS):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    stack.callback(leases.release, name, holder)
    return True
