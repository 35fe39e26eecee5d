"""Make a space due as soon as one of its pods changes: killed, evicted, not ready, ready again.

The worker that holds a lease watches. The others wait for the lease, which expires 15 s after its
holder was killed. The sampler and the full passes find the same changes later, so a change that the
watch misses does no harm. Every listing is compared with the instances
that the last whole pass of each space saw (``AddressSpace.known_boots``), so that a change during a
broken watch is found when the watch begins again.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.db import Error, connection
from django.db.models import Q
from django.utils import timezone

from controlplane.core import enqueue, leases
from tenants.models import AddressSpace
from workers.infra import adapters, names
from workers.infra.base import InfraError, InstanceSight, Sights, Watch

logger = structlog.get_logger(__name__)

LEASE = "pod-watch"
# A pod that fails again and again makes its space due once in this time at most.
SHORTEST_INTERVAL = timedelta(seconds=5)
_LEASE_SECONDS = 15.0  # extended while the watch is open
_WATCH_SECONDS = 300  # shorter than ``time_limits.LEASE_SECONDS``
_RETRY_SECONDS = 2.0  # before a broken watch is opened again


@dataclass
class Changes:
    """Remembers the newest sight of each instance, and finds the instances that have changed."""

    _known: dict[tuple[str, str], InstanceSight] = field(default_factory=dict)

    def update(self, sights: Sights) -> Collection[InstanceSight]:
        """Store the sights; return those that differ from what was stored of their instance.

        An instance that is missing in a complete listing is returned without a ``boot``.
        """
        changed = [sight for sight in sights.seen if self._store(sight)]
        if sights.complete:
            listed = {(sight.namespace, sight.instance) for sight in sights.seen}
            for key in self._known.keys() - listed:
                gone = self._known.pop(key)
                changed.append(InstanceSight(gone.namespace, gone.space_id, gone.instance))
        return changed

    def _store(self, sight: InstanceSight) -> bool:
        key = sight.namespace, sight.instance
        before = self._known.get(key)
        if sight.boot:
            self._known[key] = sight
        else:
            self._known.pop(key, None)
        return sight != before

    def find_boots(self) -> Mapping[str, Mapping[str, str]]:
        """Return {namespace: {instance: boot}} of the instances whose pods are ready (``well``)."""
        found: dict[str, dict[str, str]] = {}
        for (namespace, instance), sight in self._known.items():
            if sight.well:
                found.setdefault(namespace, {})[instance] = sight.boot
        return found


class PodWatcher(threading.Thread):
    """Watches until ``stop``, in the main process of a worker.

    Its connections, to the cluster and to the database, are its own: the process forks children
    for tasks, which must not share them. ``watch_seconds`` bounds one watch; the next one begins
    with a listing.
    """

    def __init__(
        self,
        watch: Watch,
        clock: Callable[[], datetime] = timezone.now,
        watch_seconds: int = _WATCH_SECONDS,
    ) -> None:
        super().__init__(name="pod-watcher", daemon=True)
        self._watch = watch
        self._clock = clock
        self._watch_seconds = watch_seconds
        self._holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._stopping = threading.Event()
        self._changes = Changes()
        self._triggered_at: dict[str, datetime] = {}
        self._attempts = 0  # at the lease

    def stop(self) -> None:
        """Let the thread end after its present watch, which may take ``watch_seconds``."""
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._attempts += 1
            try:
                with leases.kept(LEASE, self._holder, _LEASE_SECONDS) as won:
                    if won:
                        self._follow()
                    else:
                        # Another worker watches, so what this one remembers becomes outdated.
                        self._changes = Changes()
            except InfraError as error:
                logger.warning("pods are not watched; trying again", error=str(error))
            except Error as error:
                logger.warning("pods are not watched: no database", error=type(error).__name__)
            finally:
                # A broken connection stays broken: the next attempt opens another one.
                connection.close()
            self._stopping.wait(_RETRY_SECONDS)

    def _follow(self) -> None:
        for sights in self._watch.follow(self._watch_seconds):
            changed = self._changes.update(sights)
            spaces = self._find_stale() if sights.complete else _find_spaces(changed)
            if spaces:
                self.trigger(spaces)
            if self._stopping.is_set():
                return

    def _find_stale(self) -> Collection[str]:
        """Return the ids of spaces whose instances are not those of their last whole pass.

        A space is left out until its first whole pass is Done: passes over it are frequent anyway.
        """
        boots = self._changes.find_boots()
        spaces = AddressSpace.objects.filter(deleted_at__isnull=True).exclude(known_boots={})
        return [
            space.id
            for space in spaces.only(*_NAMED_BY, "known_boots").iterator()
            if space.known_boots != boots.get(_namespace(space), {})
        ]

    def trigger(self, space_ids: Iterable[str]) -> None:
        """Make the spaces due: now, or ``SHORTEST_INTERVAL`` after they were made due last."""
        now = self._clock()
        recent = self._triggered_at.items()
        self._triggered_at = {id_: at for id_, at in recent if at > now - SHORTEST_INTERVAL}
        for space_id in space_ids:
            last = self._triggered_at.get(space_id)
            at = now if last is None else max(now, last + SHORTEST_INTERVAL)
            if last is not None and last > now:
                continue  # already planned
            self._triggered_at[space_id] = at
            # A time in the past stays past for a pass that runs now, so it is replaced as well: the
            # pass then does not write a later time over it.
            moved = AddressSpace.objects.filter(
                Q(next_attempt_at__isnull=True)
                | Q(next_attempt_at__gt=at)
                | Q(next_attempt_at__lte=now),
                id=space_id,
                deleted_at__isnull=True,
            ).update(next_attempt_at=at)
            if moved and at == now:
                enqueue.after_commit("workers.reconcile_space", space_id=space_id)
            logger.info("a pod changed", space_id=space_id)


def start() -> None:
    """Start a watcher if this installation runs in a cluster; it ends with the process."""
    try:
        watch = adapters.watch()
    except InfraError as error:
        # Tasks report the same error; the worker goes on without a watch.
        logger.warning("pods are not watched", error=str(error))
        return
    if watch is not None:
        PodWatcher(watch).start()


_NAMED_BY = ("id", "tenant_id", "name")  # columns from which the namespace follows


def _namespace(space: AddressSpace) -> str:
    return names.namespace(space.tenant_id, space.id, space.name)


def _find_spaces(changed: Iterable[InstanceSight]) -> Collection[str]:
    """Return the ids of this installation's spaces to which the instances belong.

    Anybody can put our labels on a pod, so only pods in the namespace of their space count.
    """
    namespaces = {sight.space_id: sight.namespace for sight in changed}
    spaces = AddressSpace.objects.filter(id__in=namespaces, deleted_at__isnull=True)
    return [
        space.id for space in spaces.only(*_NAMED_BY) if _namespace(space) == namespaces[space.id]
    ]
