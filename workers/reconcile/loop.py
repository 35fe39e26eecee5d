"""Claim a space, run its steps, record what came of it; and find the spaces that are due.

Called by ``workers.tasks`` and the ``reconcile`` command. A message only says "look": what must be
done is read from the rows. This is the one place with a broad ``except``.
"""

import os
import random
import secrets
import socket
import time
from collections.abc import Sequence
from datetime import timedelta

import structlog
from django.db.models import F, Q

from controlplane.core import outages
from tenants.models import Address, AddressSpace, MessagingUser
from workers.reconcile import address_space, status, work
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Failed, Outcome, Wait
from workers.reconcile.work import Work

logger = structlog.get_logger(__name__)

LEASE = timedelta(seconds=45)
FULL_PASS_EVERY = timedelta(minutes=5)
FAILED_DELAY_SECONDS = 30.0
_LONGEST_BACKOFF_SECONDS = 300.0
_LONGEST_NAP_SECONDS = 1.0
# Engines that cannot be joined to a mesh: a space has one of them, whatever its plan says.
_ALONE = frozenset({"devrouter"})


class LeaseLost(Exception):
    """Another worker took the space over; whatever we would write is not ours to write."""


def reconcile(space_id: str, doors: Doors, *, budget_seconds: float = 20) -> Outcome | None:
    """Bring one space as far as it gets within the budget; None when another worker has it.

    Short waits are slept through here, so that a change is usable soon; longer ones are left to
    ``list_due``. Of what happens in a pass only a database that is away is raised.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    deadline = time.monotonic() + budget_seconds
    outcome: Outcome | None = None
    while True:
        if not _claim(space_id, holder, doors):
            return outcome
        try:
            outcome = _pass(space_id, holder, doors)
        finally:
            _release(space_id, holder)
        nap = _nap(space_id, outcome)
        if nap is None or time.monotonic() + nap > deadline:
            return outcome
        time.sleep(nap)


def list_due(doors: Doors) -> Sequence[str]:
    """Return the ids of spaces to look at now: due by time, or changed without a message to us."""
    now = doors.clock()
    by_time = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    changed = Q(attempts=0) & (
        Q(generation__gt=F("observed_generation"))
        | Q(id__in=Address.objects.filter(_CHANGED).values("space_id"))
        | Q(id__in=MessagingUser.objects.filter(_CHANGED).values("space_id"))
    )
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    spaces = AddressSpace.objects.filter(free, by_time | changed, deleted_at__isnull=True)
    return list(spaces.order_by("next_attempt_at", "id").values_list("id", flat=True))


_CHANGED = Q(deleted_at__isnull=True) & Q(generation__gt=F("observed_generation"))


def _claim(space_id: str, holder: str, doors: Doors) -> bool:
    now = doors.clock()
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now) | Q(claimed_by=holder)
    claimed = AddressSpace.objects.filter(free, id=space_id, deleted_at__isnull=True).update(
        claimed_by=holder, claimed_until=now + LEASE
    )
    return bool(claimed)


def _extend(space_id: str, holder: str, doors: Doors) -> None:
    extended = AddressSpace.objects.filter(id=space_id, claimed_by=holder).update(
        claimed_until=doors.clock() + LEASE
    )
    if not extended:
        raise LeaseLost


def _release(space_id: str, holder: str) -> None:
    AddressSpace.objects.filter(id=space_id, claimed_by=holder).update(
        claimed_by="", claimed_until=None
    )


def _pass(space_id: str, holder: str, doors: Doors) -> Outcome | None:
    log = logger.bind(space_id=space_id)
    try:
        return _run_steps(space_id, holder, doors)
    except LeaseLost:
        log.warning("lease lost to another worker")
        return None
    except Exception as error:
        if outages.is_database_away(error):
            raise  # nothing can be recorded now; the task tells of it in one line
        log.exception("reconcile pass failed")
        _back_off(space_id, holder, doors)
        return None


def _run_steps(space_id: str, holder: str, doors: Doors) -> Outcome:
    space = AddressSpace.objects.select_related("space_plan", "release").get(id=space_id)
    now = doors.clock()
    last = space.last_full_pass_at
    full = last is None or now - last >= FULL_PASS_EVERY
    has_mesh = doors.routing.engine not in _ALONE
    loaded = work.load(space, now=now, full=full, has_mesh=has_mesh)
    steps: list[status.StepState] = []
    outcome: Outcome = Done()
    for step, outcome in address_space.run(loaded, doors):
        steps.append(status.describe(step.name, outcome))
        _extend(space_id, holder, doors)
    status.record(loaded, outcome, steps)
    _schedule(loaded, outcome, holder)
    return outcome


def _schedule(loaded: Work, outcome: Outcome, holder: str) -> None:
    """Write when to look again. Waiting is no failure and does not count as an attempt."""
    if isinstance(outcome, Done):
        # Jitter spreads the full passes of many spaces that were made together.
        delay = FULL_PASS_EVERY.total_seconds() * random.uniform(0.8, 1.0)
    else:
        delay = outcome.delay_seconds if isinstance(outcome, Wait) else FAILED_DELAY_SECONDS
    fields = {
        "next_attempt_at": loaded.now + timedelta(seconds=delay),
        "attempts": loaded.space.attempts + 1 if isinstance(outcome, Failed) else 0,
    }
    if isinstance(outcome, Done) and loaded.full:
        fields["last_full_pass_at"] = loaded.now
    AddressSpace.objects.filter(id=loaded.space.id, claimed_by=holder).update(**fields)


def _back_off(space_id: str, holder: str, doors: Doors) -> None:
    attempts = AddressSpace.objects.values_list("attempts", flat=True).get(id=space_id) + 1
    delay = min(_LONGEST_BACKOFF_SECONDS, 2.0 ** min(attempts, 10)) * random.uniform(0.5, 1.0)
    AddressSpace.objects.filter(id=space_id, claimed_by=holder).update(
        attempts=attempts, next_attempt_at=doors.clock() + timedelta(seconds=delay)
    )


def _nap(space_id: str, outcome: Outcome | None) -> float | None:
    """Return how long to sleep before another pass here, or None to leave it to the beat."""
    if isinstance(outcome, Wait):
        return outcome.delay_seconds if outcome.delay_seconds <= _LONGEST_NAP_SECONDS else None
    if isinstance(outcome, Done) and _has_changed(space_id):
        return 0.0  # something changed while we worked, and its message found us busy
    return None


def _has_changed(space_id: str) -> bool:
    space = AddressSpace.objects.filter(id=space_id, deleted_at__isnull=True)
    return (
        space.filter(generation__gt=F("observed_generation")).exists()
        or Address.objects.filter(_CHANGED, space_id=space_id).exists()
        or MessagingUser.objects.filter(_CHANGED, space_id=space_id).exists()
    )
