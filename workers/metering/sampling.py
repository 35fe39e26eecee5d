"""The sampling cycle: read every instance of some spaces, then store what the snapshots show.

Stored are the states of the sources, the rows that must be landed (in the outbox), the newest
reading of each address, and the list of client connections.

The periodic task runs a cycle over all spaces. A close runs one that ends a bucket. A cycle also
runs before a deletion, a restart or a stop (``last_samples``).

* Instances are read outside any transaction; the snapshots of some spaces are applied in one
  transaction, with as many queries as for one space, except for the alarms of addresses.
* Only one cycle at a time reads a space (lease ``sample:<space>``), and ``apply_all`` refuses
  outdated snapshots. So no snapshot is applied after a newer one.
* An error of one instance or space is logged and gives no sample; all others are still read. Only
  an error of the database connection ends the cycle.
"""

import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from workers.infra.base import InfraError
from workers.messaging.observed import InstanceSnapshot
from workers.metering import (
    collector,
    connection_lists,
    landing,
    live_rows,
    newest_readings,
    sources,
)
from workers.metering.collector import Reading
from workers.metering.readers import Instance, NoAnswer, Readers
from workers.metering.sources import Loaded

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_AT_ONCE = 8  # this many connections to instances
# This many spaces are leased, read and stored together. Their leases must last while they are read.
_TOGETHER = 32
_POLL_SECONDS = 0.1  # between two attempts to get the lease of a space
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


def sample_shard(readers: Readers, shard: int, n_shards: int) -> list[Sampled]:
    """Sample the spaces of one of ``n_shards`` shards, as ``sample_all`` does all spaces.

    So several workers share a cycle. A lease for each shard keeps two cycles of it apart: nothing
    is sampled, and the result is empty, while an earlier one still runs. ``shard`` counts from 0.
    """
    name = f"sample-shard:{shard}/{n_shards}"
    with leases.kept(name, uuid.uuid4().hex, _LEASE_SECONDS) as won:
        if not won:
            logger.warning("a sampling cycle takes longer than its period", shard=shard)
            return []
        # Not ``hash``, which differs between processes.
        own = [s for s in list_spaces() if zlib.crc32(s.id.encode()) % n_shards == shard]
        return sample(own, readers, patience=_PATIENCE_SECONDS)


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
        while chunk := list(islice(waiting, _TOGETHER)):
            # The leases are held until the whole chunk is stored.
            with _leased([space.id for space in chunk], patience) as won:
                visits = [_Visit(space, readers) for space in chunk]
                for visit in visits:
                    if visit.space.id in won:
                        visit.begin(pool)
                done += _stored([visit.finish() for visit in visits], cut or Cut())
    return done


@contextmanager
def _leased(space_ids: Sequence[str], patience: float) -> Iterator[set[str]]:
    """Take the leases of some spaces for the block; yield the ids of those that were taken.

    While another cycle keeps one, this tries again for ``patience`` seconds.
    """
    names = {f"sample:{space_id}": space_id for space_id in space_ids}
    holder, deadline = uuid.uuid4().hex, time.monotonic() + patience
    won = leases.acquire_each(list(names), holder, _LEASE_SECONDS)
    try:
        while len(won) < len(names) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            won |= leases.acquire_each(sorted(names.keys() - won), holder, _LEASE_SECONDS)
        yield {names[name] for name in won}
    finally:
        leases.release_each(won, holder)


@dataclass(frozen=True)
class Visited:
    """What a cycle has read of one space, to be stored.

    ``silent`` names the instances that did not answer. The cycle began at ``started_at``.
    """

    reading: Reading
    started_at: datetime
    silent: frozenset[str] = frozenset()

    def sampled(self, *, is_applied: bool, failed: str = "") -> Sampled:
        reached = frozenset(self.reading.instances)
        return Sampled(self.reading.space_id, is_applied, reached, self.silent, failed)


def _stored(found: Sequence[Visited | Sampled], cut: Cut) -> list[Sampled]:
    """Store what was read of some spaces, in one transaction; return the result of each, in order.

    If that fails, each space is stored by itself, so that an error of one costs no other's samples.
    """
    visited = [one for one in found if isinstance(one, Visited)]
    applied: dict[str, Sampled] = {}
    try:
        done = apply_all(visited, cut)
        applied = {
            one.reading.space_id: one.sampled(is_applied=one.reading.space_id in done)
            for one in visited
        }
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - which space fails, and why, shows below
        logger.info("samples are stored space by space", spaces=len(visited))
        applied = {one.reading.space_id: _stored_alone(one, cut) for one in visited}
    return [one if isinstance(one, Sampled) else applied[one.reading.space_id] for one in found]


def _stored_alone(one: Visited, cut: Cut) -> Sampled:
    space_id, event = one.reading.space_id, "samples cannot be stored"
    try:
        return one.sampled(is_applied=space_id in apply_all([one], cut))
    except (OperationalError, InterfaceError):
        raise
    except WaypostError as error:
        logger.warning(event, space=space_id, reason=str(error))
        return one.sampled(is_applied=False, failed=str(error))
    except Exception as error:  # one faulty space must not stop the metering of all others
        logger.exception(event, space=space_id)
        # For people, so it has no text of an error that was not expected.
        failed = f"an error of the kind {type(error).__name__}, which the log describes"
        return one.sampled(is_applied=False, failed=failed)


class _Visit:
    """Reads one space in one cycle: ``begin`` starts to read its instances, ``finish`` waits.

    Between the two calls other spaces begin, so their instances are read at the same time.
    """

    def __init__(self, space: AddressSpace, readers: Readers) -> None:
        self.space = space
        self._readers = readers
        self._started_at = readers.clock()
        self._types: Mapping[str, str] = {}
        # Stays None if another cycle keeps the lease, or if the instances cannot be listed.
        self._running: Mapping[str, Future[tuple[InstanceSnapshot, datetime]]] | None = None
        self._is_unreadable = False

    def begin(self, pool: ThreadPoolExecutor) -> None:
        """Start to read the instances in ``pool``. The caller has the space's lease.

        Reads nothing if the instances cannot be listed.
        """
        # Set after the wait for the lease. So what another cycle applied during the wait does not
        # count as newer.
        self._started_at = self._readers.clock()
        self._is_unreadable = True
        with self._guarded("instances cannot be listed"):
            found = self._readers.find(self.space)
            self._types = found.types
            self._running = {one.name: pool.submit(self._read, one) for one in found.instances}

    def finish(self) -> Visited | Sampled:
        """Wait for the snapshots and return them; store the client connections.

        An instance without an answer is silent. If the space was not read, the result is final.
        Errors are logged, except those of the database connection, which propagate.
        """
        space = self.space
        if self._running is None:
            another = Sampled(space.id, is_applied=False)
            return self._unread() if self._is_unreadable else another
        snapshots: dict[str, InstanceSnapshot] = {}
        times: list[datetime] = []
        for name, future in self._running.items():
            with self._guarded("no sample", instance=name):
                snapshots[name], at = future.result()
                times.append(at)
        # One time for all snapshots of the cycle, no earlier than any of them.
        taken_at = max(times, default=self._readers.clock())
        reading = Reading(space.tenant_id, space.id, taken_at, snapshots, self._types)
        with self._guarded("connections cannot be stored"):
            connection_lists.store(space.id, snapshots, existing=self._running, as_of=taken_at)
        return Visited(reading, self._started_at, frozenset(self._running) - frozenset(snapshots))

    def _read(self, instance: Instance) -> tuple[InstanceSnapshot, datetime]:
        return instance.read(), self._readers.clock()

    def _unread(self) -> Sampled:
        silent = frozenset({f"every instance of {self.space.name}"})
        return Sampled(self.space.id, is_applied=False, silent=silent)

    @contextmanager
    def _guarded(self, event: str, **about: str) -> Iterator[None]:
        """Log and suppress errors of the block, except if the database does not answer."""
        try:
            yield
        except (OperationalError, InterfaceError):
            raise
        except (NoAnswer, InfraError, WaypostError) as error:
            logger.warning(event, space=self.space.id, **about, reason=str(error))
        except Exception:  # one faulty instance must not stop the metering of all others
            logger.exception(event, space=self.space.id, **about)


def apply(
    reading: Reading,
    *,
    started_at: datetime,
    cut: Cut | None = None,
    silent: Collection[str] = (),
) -> bool:
    """Store one cycle's snapshots of one space; return whether they were stored (``apply_all``)."""
    visited = Visited(reading, started_at, frozenset(silent))
    return reading.space_id in apply_all([visited], cut or Cut())


def apply_all(visited: Sequence[Visited], cut: Cut) -> set[str]:
    """Store one cycle's snapshots of some spaces, in one transaction; return those stored, by id.

    Stored are the states of the sources, the rows that must be landed now (in the outbox), and the
    newest reading of each address. Nothing is stored of a space of which newer snapshots were
    applied after the visit began: the smaller counters of these would look like counter resets.
    Snapshots of incarnations that another one has replaced are left out. The number of queries
    grows only with the number of spaces that have alarms.
    """
    if not visited:
        return set()
    with transaction.atomic():
        loaded = sources.load_spaces({v.reading.space_id: v.reading.instances for v in visited})
        current = [_without_replaced(one, loaded[one.reading.space_id]) for one in visited]
        fresh = [one for one in current if not _is_late(one, loaded[one.reading.space_id])]
        begins = _begins([one for one in fresh if not loaded[one.reading.space_id].states], cut)
        steps = [
            (
                one.reading.taken_at,
                collector.advance(
                    loaded[one.reading.space_id].states,
                    one.reading,
                    cut_at=cut.at,
                    begins_at=begins.get(one.reading.tenant_id),
                ),
            )
            for one in fresh
        ]
        for taken_at, step in steps:
            # Few in an ordinary cycle; before the others, as ``sources.save`` says.
            if ended := [state for state in step.states if state.ended]:
                sources.save(ended, ended_at=taken_at)
        sources.save([s for _, step in steps for s in step.states if not s.ended])
        landing.reserve([row for _, step in steps for row in step.rows])
        newest_readings.keep([_cycle(one) for one in fresh])
    return {one.reading.space_id for one in fresh}


def _without_replaced(one: Visited, loaded: Loaded) -> Visited:
    """Return the visit without snapshots of replaced incarnations.

    Such a snapshot would end the state of the incarnation that replaced it.
    """
    reading = one.reading
    current = {n: s for n, s in reading.instances.items() if n not in loaded.outdated}
    return replace(one, reading=replace(reading, instances=current))


def _is_late(one: Visited, loaded: Loaded) -> bool:
    """Return whether newer snapshots of the space were applied after the visit began."""
    sampled = [state.sampled_at for state in loaded.states if state.sampled_at is not None]
    # A sample far ahead is not from a newer cycle: the clock was set back, and sampling must go on.
    return any(timedelta(0) < at - one.started_at < _CLOCK_SET_BACK for at in sampled)


def _begins(visited: Sequence[Visited], cut: Cut) -> dict[str, datetime]:
    """Return where the last invoice of each tenant ends, for spaces without any state.

    The first bucket of a new space begins no earlier. Tenants without an invoice are left out.
    """
    if not visited:
        return {}
    until = cut.at or max(one.reading.taken_at for one in visited)
    tenants = {one.reading.tenant_id for one in visited}
    closes = Invoice.objects.filter(tenant_id__in=tenants, ends_at__lt=until)
    return dict(closes.order_by().values_list("tenant_id").annotate(last=Max("ends_at")))


def _cycle(one: Visited) -> live_rows.Cycle:
    reading = one.reading
    return live_rows.Cycle(reading.space_id, reading.taken_at, reading.instances, one.silent)
