"""Claim a space, run its steps, record what came of it; and find the spaces that are due.

Called by ``workers.tasks`` and the ``reconcile`` command. A message only says "look": what must be
done is read from the rows. This is the one place with a broad ``except``.
"""

import math
import os
import random
import secrets
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import F, Q

from controlplane.core import outages, phases
from tenants.models import Address, AddressSpace, MessagingUser
from workers.reconcile import address_space, lease, rolling, status, work
from workers.reconcile.doors import Doors
from workers.reconcile.lease import Lease
from workers.reconcile.outcome import Done, Failed, Outcome, Wait
from workers.reconcile.work import Work

logger = structlog.get_logger(__name__)

FULL_PASS_EVERY = timedelta(minutes=5)
_EARLIEST = 0.8  # of that time
FAILED_DELAY_SECONDS = 30.0
_LONGEST_BACKOFF_SECONDS = 300.0
_LONGEST_NAP_SECONDS = 1.0
# What waits is asked at the step's own pace at first, so that a start is seen at once; then less
# and less often, so that what waits for days costs next to nothing.
_PATIENT_AFTER = timedelta(seconds=20)
_LONGEST_PAUSE_SECONDS = 60.0
_LONGEST_WAITED_FOR = 200
# A pass that fails once may have met a moment; one that fails again has met a mistake.
_TOLD_AFTER_ATTEMPTS = 3
_SOON_MENDED_SECONDS = 5.0


@dataclass(frozen=True)
class _Passed:
    """One pass; ``pause_seconds``: until the next look, None: the time is written elsewhere."""

    outcome: Outcome | None
    pause_seconds: float | None = None


def reconcile(space_id: str, doors: Doors, *, budget_seconds: float = 20) -> Outcome | None:
    """Bring one space as far as it gets within the budget; None when another worker has it.

    Short waits are slept through here, so that a change is usable soon; longer ones are left to
    ``list_due``. Of what happens in a pass only a database that is away is raised.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    mine = Lease(space_id, holder, doors.clock)
    deadline = time.monotonic() + budget_seconds
    outcome: Outcome | None = None
    while mine.claim():
        with mine.kept():
            passed = _pass(mine, doors)
        outcome = passed.outcome
        nap = passed.pause_seconds
        if nap is None or nap > _LONGEST_NAP_SECONDS or time.monotonic() + nap > deadline:
            break
        time.sleep(nap)
    return outcome


def list_due(doors: Doors) -> Sequence[str]:
    """Return the ids of spaces to look at now: due by time, or changed without a message to us."""
    now = doors.clock()
    by_time = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    # What failed or waits has its time; who changes it brings that forward.
    changed = Q(attempts=0, waiting_since__isnull=True) & (
        Q(generation__gt=F("observed_generation"))
        | Q(id__in=Address.objects.filter(_CHANGED).values("space_id"))
        | Q(id__in=MessagingUser.objects.filter(_CHANGED).values("space_id"))
    )
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    spaces = AddressSpace.objects.filter(free, by_time | changed, deleted_at__isnull=True)
    return list(spaces.order_by("next_attempt_at", "id").values_list("id", flat=True))


_CHANGED = Q(deleted_at__isnull=True) & Q(generation__gt=F("observed_generation"))


def pause(wait: Wait, waited: timedelta) -> float:
    """Return the seconds until the next look at what has waited so long without moving.

    At least what the step asks for; later a tenth of the time waited, at most a minute. So nothing
    takes a tenth longer than it must, but for the last minute.
    """
    grown = waited.total_seconds() / 10 if waited >= _PATIENT_AFTER else 0.0
    return max(wait.delay_seconds, min(grown, _LONGEST_PAUSE_SECONDS))


def _pass(mine: Lease, doors: Doors) -> _Passed:
    log = logger.bind(space_id=mine.space_id)
    space = AddressSpace.objects.select_related("space_plan", "release").get(id=mine.space_id)
    try:
        return _run_steps(space, mine, doors)
    except lease.Lost:
        log.warning("lease lost to another worker")
    except Exception as error:
        if outages.is_database_away(error):
            raise  # nothing can be recorded now; the task tells of it in one line
        log.exception("reconcile pass failed")
        _back_off(space, mine)
    return _Passed(None)


def _run_steps(space: AddressSpace, mine: Lease, doors: Doors) -> _Passed:
    now = doors.clock()
    last = space.last_full_pass_at
    full = last is None or now - last >= FULL_PASS_EVERY * _EARLIEST
    loaded = work.load(space, now=now, full=full, has_mesh=doors.routing.has_mesh)
    replaced = rolling.find_replaced(loaded, doors)
    if replaced is not None:
        return _Passed(replaced)  # not even the time of the next look: a newer worker has its own
    steps: list[status.StepState] = []
    outcome: Outcome = Done()
    for step, outcome in address_space.run(loaded, doors):
        steps.append(status.describe(step.name, outcome))
        mine.extend()
    status.record(loaded, outcome, steps)
    return _Passed(outcome, _schedule(loaded, outcome, steps, mine))


def _schedule(
    loaded: Work, outcome: Outcome, steps: Sequence[status.StepState], mine: Lease
) -> float | None:
    """Write when to look again; return the seconds until then, None if that is the beat's business.

    Who asked for a look while the pass ran wrote another time: that stands, and the look is now.
    Waiting is no failure and does not count as an attempt.
    """
    space = loaded.space
    fields: dict[str, Any] = {"attempts": int(isinstance(outcome, Failed))}
    if isinstance(outcome, Done) and loaded.full:
        fields["last_full_pass_at"] = loaded.now
    row = AddressSpace.objects.filter(id=space.id, claimed_by=mine.holder)
    row.update(**fields)
    now = mine.clock()
    seconds, waits = _next_look(loaded, outcome, steps, now)
    unasked = row.filter(next_attempt_at=space.next_attempt_at)
    if not unasked.update(next_attempt_at=now + timedelta(seconds=seconds), **waits):
        return 0.0
    return seconds if isinstance(outcome, Wait) else None


def _next_look(
    loaded: Work, outcome: Outcome, steps: Sequence[status.StepState], now: datetime
) -> tuple[float, dict[str, Any]]:
    """Return in how many seconds to look again, and what is waited for since when."""
    if not isinstance(outcome, Wait):
        # Jitter spreads the full passes of many spaces that were made together.
        settled = FULL_PASS_EVERY.total_seconds() * random.uniform(_EARLIEST, 1.0)
        settled = min(settled, _until_mended(loaded, now))
        seconds = settled if isinstance(outcome, Done) else FAILED_DELAY_SECONDS
        return seconds, {"waiting_for": "", "waiting_since": None}
    space = loaded.space
    slug = outcome.reason.partition(":")[0]
    waits_for = " ".join([str(space.generation), steps[-1]["name"], slug, *sorted(loaded.down)])
    is_same = space.waiting_for == waits_for[:_LONGEST_WAITED_FOR]
    since = space.waiting_since if is_same and space.waiting_since else now
    return pause(outcome, now - since), {
        "waiting_for": waits_for[:_LONGEST_WAITED_FOR],
        "waiting_since": since,
    }


def _until_mended(loaded: Work, now: datetime) -> float:
    """Return the seconds until somebody asks again of a trouble that is told apart from Ready.

    Infinite without one. A tenth of the time it has lasted, for it may last.
    """
    troubles = {phases.REACHABLE: loaded.endpoint_trouble, phases.ROUTERS: loaded.unjoined}
    begun = [_begun(loaded, kind, now) for kind, trouble in troubles.items() if trouble]
    pauses = [(now - each).total_seconds() / 10 for each in begun]
    return max(_SOON_MENDED_SECONDS, min(pauses, default=math.inf))


def _begun(loaded: Work, kind: str, now: datetime) -> datetime:
    """Return since when a condition says that something is wrong, as of the last pass."""
    known = phases.find_condition(loaded.space.conditions, kind)
    if known is None or known["status"] == "True":
        return now
    return datetime.fromisoformat(known["since"])


def _back_off(space: AddressSpace, mine: Lease) -> None:
    """Write a later look after a crash, unless somebody asked for one while the pass ran."""
    attempts = space.attempts + 1
    delay = min(_LONGEST_BACKOFF_SECONDS, 2.0 ** min(attempts, 10)) * random.uniform(0.5, 1.0)
    row = AddressSpace.objects.filter(id=space.id, claimed_by=mine.holder)
    row.update(attempts=attempts)
    unasked = row.filter(next_attempt_at=space.next_attempt_at)
    unasked.update(next_attempt_at=mine.clock() + timedelta(seconds=delay))
    # Last, for what the pass met may be in the row itself, and end this too.
    if attempts >= _TOLD_AFTER_ATTEMPTS:
        status.record_crash(row, mine.clock())
