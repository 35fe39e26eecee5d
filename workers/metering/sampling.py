"""The sampling cycle: read every instance of some spaces, then store what the snapshots show.

Stored are the states of the sources, the rows that must be landed (in the outbox), the newest
reading of each address, and the list of client connections.

The periodic task runs a cycle over all spaces. A close runs one that ends a bucket. A cycle also
runs before a deletion, a restart or a stop (``last_samples``).

* Instances are read outside any transaction; a space's snapshots are applied in one transaction.
* Only one cycle at a time reads a space (lease ``sample:<space>``), and ``apply`` refuses outdated
  snapshots. So no snapshot is applied after a newer one.
* An error of one instance or space is logged and gives no sample; all others are still read. Only
  an error of the database connection ends the cycle.
"""

import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Max

from controlplane.core import leases
from controlplane.core.errors import WaypostError
from plans.models import Invoice
from tenants import queries
from tenants.models import AddressSpace
from tenants.notifications import alarms
from workers.infra.base import InfraError
from workers.messaging.observed import InstanceSnapshot
from workers.metering import collector, connection_lists, landing, live_rows, sources
from workers.metering.collector import Reading
from workers.metering.readers import Instance, NoAnswer, Readers

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_AT_ONCE = 8  # this many spaces, and this many connections to instances
_POLL_SECONDS = 0.1
# Operations on messages hold a space's lease for a second or so (``workers.message_requests``).
_PATIENCE_SECONDS = 2
# A stored sample that lies further in the future shows that the clock was set back since.
_CLOCK_SET_BACK = timedelta(minutes=2)


@dataclass(frozen=True)
class Sampled:
    """The result of one cycle for one space.

    * ``reached``, ``silent``: names of the instances that gave a snapshot, and of those that did
      not.
    * ``is_applied``: the snapshots were stored. False if another cycle was reading the space or has
      stored newer snapshots, if the instances could not be listed, or if storing failed.
    * ``failed``: why the snapshots could not be stored; empty if nothing failed. If the instances
      could not be listed, ``silent`` has one text for the whole space instead.
    """

    space_id: str
    is_applied: bool
    reached: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    failed: str = ""


@dataclass(frozen=True)
class Cut:
    """The time at which a close ends the running bucket; ``at`` is None in an ordinary cycle."""

    at: datetime | None = None


def list_spaces() -> list[AddressSpace]:
    """Return the spaces that ordinary cycles sample, ordered by id.

    These have been Active and are not being deleted.
    """
    return list(queries.list_sampled_spaces())


def sample_all(readers: Readers) -> list[Sampled]:
    """Sample every space of ``list_spaces`` once; return the result of each.

    A space that another cycle keeps leased for two seconds is skipped: its result is not applied.
    """
    return sample(list_spaces(), readers, patience=_PATIENCE_SECONDS)


def sample(
    spaces: Iterable[AddressSpace], readers: Readers, *, cut: Cut | None = None, patience: float = 0
) -> list[Sampled]:
    """Read the instances of ``spaces`` and store the samples; return the results in the same order.

    An instance that does not answer is ``silent``; the snapshots of the others are stored. Several
    spaces are read at once, so that one slow instance does not delay all others. ``cut`` ends the
    running bucket. ``patience`` is the time in seconds to wait for another cycle that is reading
    the same space.

    Raises:
        OperationalError, InterfaceError: the database does not answer. Snapshots that were read but
            not stored are lost; the next cycle reads the cumulative counters again.
    """
    done: list[Sampled] = []
    waiting = iter(spaces)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while chunk := list(islice(waiting, _AT_ONCE)):
            with ExitStack() as stack:  # holds the leases until the whole chunk is applied
                visits = [_Visit(space, readers) for space in chunk]
                for visit in visits:
                    visit.begin(pool, stack, patience)
                done += [visit.finish(cut or Cut()) for visit in visits]
    return done


class _Visit:
    """Reads one space in one cycle: ``begin`` starts to read its instances, ``finish`` stores them.

    Between the two calls other spaces begin, so their instances are read at the same time.
    """

    def __init__(self, space: AddressSpace, readers: Readers) -> None:
        self._space = space
        self._readers = readers
        self._started_at = readers.clock()
        self._types: Mapping[str, str] = {}
        # Stays None if another cycle keeps the lease, or if the instances cannot be listed.
        self._running: Mapping[str, Future[tuple[InstanceSnapshot, datetime]]] | None = None
        self._is_unreadable = False
        self._failure = ""  # of the last step that ``_guarded`` ended

    def begin(self, pool: ThreadPoolExecutor, stack: ExitStack, patience: float) -> None:
        """Take the space's lease until ``stack`` ends, and start to read the instances in ``pool``.

        Reads nothing if another cycle keeps the lease for longer than ``patience`` seconds, or if
        the instances cannot be listed.
        """
        if not self._hold(stack, patience):
            return
        # Set after the wait. So what another cycle applied during the wait does not count as newer.
        self._started_at = self._readers.clock()
        self._is_unreadable = True
        with self._guarded("instances cannot be listed"):
            found = self._readers.find(self._space)
            self._types = found.types
            self._running = {one.name: pool.submit(self._read, one) for one in found.instances}

    def finish(self, cut: Cut) -> Sampled:
        """Wait for the snapshots; store the samples and the client connections; return the result.

        An instance without an answer is silent. Errors are logged, except those of the database
        connection, which propagate.
        """
        if self._running is None:
            another = Sampled(self._space.id, is_applied=False)
            return self._unread() if self._is_unreadable else another
        snapshots: dict[str, InstanceSnapshot] = {}
        times: list[datetime] = []
        for name, future in self._running.items():
            with self._guarded("no sample", instance=name):
                snapshots[name], at = future.result()
                times.append(at)
        # One time for all snapshots of the cycle, no earlier than any of them.
        taken_at = max(times, default=self._readers.clock())
        space = self._space
        reading = Reading(space.tenant_id, space.id, taken_at, snapshots, self._types)
        with self._guarded("connections cannot be stored"):
            connection_lists.store(space.id, snapshots, existing=self._running, as_of=taken_at)
        reached = frozenset(snapshots)
        silent = frozenset(self._running) - reached
        with self._guarded("samples cannot be stored"):
            applied = apply(reading, started_at=self._started_at, cut=cut, silent=silent)
            return Sampled(space.id, applied, reached, silent)
        # ``_guarded`` suppressed an error. The instances did answer.
        return Sampled(space.id, False, reached, silent, failed=self._failure)

    def _read(self, instance: Instance) -> tuple[InstanceSnapshot, datetime]:
        return instance.read(), self._readers.clock()

    def _unread(self) -> Sampled:
        silent = frozenset({f"every instance of {self._space.name}"})
        return Sampled(self._space.id, is_applied=False, silent=silent)

    def _hold(self, stack: ExitStack, patience: float) -> bool:
        """Take the space's lease until ``stack`` ends; return False if another cycle keeps it."""
        name, holder = f"sample:{self._space.id}", uuid.uuid4().hex
        deadline = time.monotonic() + patience
        while not leases.acquire(name, holder, _LEASE_SECONDS):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        stack.callback(leases.release, name, holder)
        return True

    @contextmanager
    def _guarded(self, event: str, **about: str) -> Iterator[None]:
        """Log and suppress errors of the block, except if the database does not answer.

        ``_failure`` then says what happened. It is for people, so it has no text of an error that
        was not expected.
        """
        try:
            yield
        except (OperationalError, InterfaceError):
            raise
        except (NoAnswer, InfraError, WaypostError) as error:
            logger.warning(event, space=self._space.id, **about, reason=str(error))
            self._failure = str(error)
        except Exception as error:  # one faulty instance must not stop the metering of all others
            logger.exception(event, space=self._space.id, **about)
            self._failure = f"an error of the kind {type(error).__name__}, which the log describes"


def apply(
    reading: Reading,
    *,
    started_at: datetime,
    cut: Cut | None = None,
    silent: Collection[str] = (),
) -> bool:
    """Store one cycle's snapshots of a space, in one transaction; return whether they were stored.

    Stored are the states of the sources, the rows that must be landed now (in the outbox), and the
    newest reading of each address. Nothing is stored if newer snapshots were applied after
    ``started_at``: the smaller counters of these would look like counter resets. Snapshots of
    incarnations that another one has replaced are left out. ``silent`` instances did not answer.
    """
    with transaction.atomic():
        # A snapshot of a replaced incarnation would end the state of the one that replaced it.
        outdated = sources.outdated(reading.space_id, reading.instances)
        current = {n: s for n, s in reading.instances.items() if n not in outdated}
        states = sources.load_space(reading.space_id, current)
        sampled = [state.sampled_at for state in states if state.sampled_at is not None]
        # A sample far ahead is not from a newer cycle: the clock was set back, and sampling must go
        # on.
        if any(timedelta(0) < at - started_at < _CLOCK_SET_BACK for at in sampled):
            return False
        read = Reading(
            reading.tenant_id, reading.space_id, reading.taken_at, current, reading.types
        )
        cut_at = cut.at if cut else None
        until = cut_at or reading.taken_at
        begins_at = None
        if not states:
            # The first bucket of a new space begins no earlier than the tenant's last invoice ends.
            closes = Invoice.objects.filter(tenant_id=reading.tenant_id, ends_at__lt=until)
            begins_at = closes.aggregate(last=Max("ends_at"))["last"]
        step = collector.advance(states, read, cut_at=cut_at, begins_at=begins_at)
        sources.save(step.states, ended_at=reading.taken_at)
        landing.reserve(step.rows)
        _keep_for_reading(read, silent)
    return True


def _keep_for_reading(reading: Reading, silent: Collection[str]) -> None:
    """Store the newest reading of each address, and evaluate the alarms of addresses.

    An error is logged and loses no sample, except one of the database connection, which is raised.
    """
    cycle = live_rows.Cycle(reading.space_id, reading.taken_at, reading.instances, silent)
    space_id, changed = reading.space_id, []
    with _savepoint("the newest readings cannot be stored", space_id):
        changed = live_rows.write(cycle)
    is_evaluated = False
    with _savepoint("alarms cannot be evaluated", space_id):
        alarms.evaluate(space_id, changed, reading.taken_at)
        is_evaluated = True
    if not is_evaluated:
        with _savepoint("alarms cannot be evaluated", space_id):
            alarms.make_due(space_id, reading.taken_at)


@contextmanager
def _savepoint(event: str, space_id: str) -> Iterator[None]:
    """Run the block in a savepoint; log and suppress its errors, as ``_keep_for_reading`` says."""
    try:
        with transaction.atomic():
            yield
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception(event, space=space_id)
