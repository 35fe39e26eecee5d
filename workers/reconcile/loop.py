"""The reconcile loop: list the spaces that are due, claim one, run its steps, store the outcome.

Called by ``workers.tasks`` and by the command ``manage.py reconcile``. A Celery task gets only the
id of a space; the pass reads from the rows what is to be done. ``_pass`` has the only broad
``except``: an error in one space must not stop the work on the others.
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
from django.db.models import Q

from controlplane.core import outages, phases
from controlplane.core.reasons import Reason
from tenants.models import Address, AddressSpace, MessagingUser
from workers.reconcile import address_space, changes, lease, rolling, space_rows, status, waiting
from workers.reconcile.lease import Lease
from workers.reconcile.outcome import Done, Failed, Outcome, Wait
from workers.reconcile.pass_runner import PassRunner
from workers.reconcile.ports import Ports
from workers.reconcile.report import PassReport
from workers.reconcile.space_rows import SpaceRows
from workers.reconcile.waiting import Waiting
from workers.rollouts import release

logger = structlog.get_logger(__name__)

FULL_PASS_EVERY = timedelta(minutes=5)
_EARLIEST = 0.8  # with jitter, a full pass may begin after this share of ``FULL_PASS_EVERY``
FAILED_DELAY_SECONDS = 30.0  # before a failed pass is repeated
_LONGEST_BACKOFF_SECONDS = 300.0  # after many errors in a row
_LONGEST_NAP_SECONDS = 1.0  # the worker sleeps until a pass that is due so soon, and then runs it
# At first a waiting space is reconciled as often as the step asks for, so that an instance that has
# started is noticed at once. Later the pauses grow, so that a wait of days costs almost nothing.
_PATIENT_AFTER = timedelta(seconds=20)
_LONGEST_PAUSE_SECONDS = 60.0
# One crash may be transient, so the condition shows crashes only from this number of attempts on.
# ``AddressSpace.attempts`` also counts a pass that ended with ``Failed`` just before the crashes.
_REPORTED_AFTER_ATTEMPTS = 3
_SHORTEST_RECHECK_SECONDS = 5.0  # between two checks of a space in trouble


@dataclass(frozen=True)
class _Passed:
    """The result of one pass.

    * ``outcome``: None if the pass crashed or lost its lease.
    * ``pause_seconds``: after how many seconds the next pass is due. ``reconcile`` runs that pass
      itself if this is a second or less. Otherwise, or if it is None, ``list_due`` finds the pass.
      It is 0 if a change was requested during the pass.
    """

    outcome: Outcome | None
    pause_seconds: float | None = None


def reconcile(space_id: str, ports: Ports, *, budget_seconds: float = 20) -> Outcome | None:
    """Claim one space and run passes over it; return the outcome of the last pass.

    Another pass follows if it is due within a second and before ``budget_seconds`` are over. So a
    change that waits only for the start of an instance takes effect soon. Later passes are left to
    ``list_due``. The budget does not stop a pass that has begun.

    None: the space is deleted, another worker has its lease, or the pass crashed or lost its lease.
    A crash is logged, and delays the next pass.

    Raises:
        OperationalError, InterfaceError: the database does not answer.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    mine = Lease(space_id, holder, ports.clock)
    deadline = time.monotonic() + budget_seconds
    outcome: Outcome | None = None
    while mine.claim():
        with mine.kept():
            passed = _pass(mine, ports)
        outcome = passed.outcome
        nap = passed.pause_seconds
        if nap is None or nap > _LONGEST_NAP_SECONDS or time.monotonic() + nap > deadline:
            break
        time.sleep(nap)
    return outcome


def list_due(ports: Ports) -> Sequence[str]:
    """Return the ids of the spaces that are due and that no worker has a lease on.

    They are in the order of ``next_attempt_at``. A space is due if one of these is true:

    * its ``next_attempt_at`` has passed or is not set;
    * the space, an address or a user has a change that no pass has applied (its task was lost);
    * its start-up files lack a change, and were last written 30 s ago or earlier.

    A space whose last pass failed, crashed or waits is due by ``next_attempt_at`` only.
    """
    now = ports.clock()
    by_time = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    # A space that failed or waits can do without this: a new change sets its time to now.
    changed = Q(attempts=0, waiting_since__isnull=True) & (
        changes.CHANGED
        | Q(id__in=Address.objects.filter(_CHANGED_ROWS).values("space_id"))
        | Q(id__in=MessagingUser.objects.filter(_CHANGED_ROWS).values("space_id"))
    )
    # A worker that was killed after it marked the files has stored no time for the next pass.
    outdated = Q(files_outdated=True, files_built_at__lte=now - changes.FILES_EVERY)
    outdated &= Q(attempts=0, waiting_since__isnull=True)
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    due = by_time | changed | outdated
    spaces = AddressSpace.objects.filter(free, due, deleted_at__isnull=True)
    return list(spaces.order_by("next_attempt_at", "id").values_list("id", flat=True))


_CHANGED_ROWS = Q(deleted_at__isnull=True) & changes.CHANGED


def pause(wait: Wait, waited: timedelta) -> float:
    """Return the seconds until the next pass over a space that has ``waited`` without progress.

    The result is the delay that the step returned, or a longer one: after 20 s, a tenth of
    ``waited``, but at most a minute. So polling makes a long wait longer by at most a tenth, and by
    at most a minute.
    """
    grown = waited.total_seconds() / 10 if waited >= _PATIENT_AFTER else 0.0
    return max(wait.delay_seconds, min(grown, _LONGEST_PAUSE_SECONDS))


def _pass(mine: Lease, ports: Ports) -> _Passed:
    log = logger.bind(space_id=mine.space_id)
    space = AddressSpace.objects.select_related("space_plan", "release").get(id=mine.space_id)
    try:
        return _run_steps(space, mine, ports)
    except lease.Lost:
        log.warning("lease lost to another worker")
    except Exception as error:
        if outages.is_database_away(error):
            raise  # nothing can be recorded now; the task logs this error in one line
        log.exception("reconcile pass failed")
        _back_off(space, mine)
    return _Passed(None)


def _run_steps(space: AddressSpace, mine: Lease, ports: Ports) -> _Passed:
    now = ports.clock()
    last = space.last_full_pass_at
    # Jitter brings a pass forward by up to a fifth of the interval; it is a full one all the same.
    full = last is None or now - last >= FULL_PASS_EVERY * _EARLIEST
    rows = _load(space, ports, now=now, full=full)
    # Without a release there is nothing to compare: engines that run as local programs have none.
    ours = None if rows.release is None else release.configured(ports.infra, ports.routing)
    replaced = rolling.find_replaced(rows, ours)
    if replaced is not None:
        return _Passed(replaced)  # write nothing: the newer worker schedules this space
    # ``extend`` raises Lost before the status is written, if the lease is not ours.
    runner = PassRunner(after_step=mine.extend)
    address_space.run(runner, rows, ports, ours)
    status.record(rows, runner.report)
    return _Passed(runner.report.outcome, _schedule(rows, runner.report, mine))


def _load(space: AddressSpace, ports: Ports, *, now: datetime, full: bool) -> SpaceRows:
    """Return the rows of a partial pass if that is enough, else the rows of a whole pass.

    A partial pass is never enough if ``full``. Before a partial pass, this stores that the start-up
    files are outdated.
    """
    has_mesh = ports.routing.has_mesh
    partial = None if full else changes.load(space, now=now, has_mesh=has_mesh)
    if partial is not None and changes.are_instances_as_known(partial, ports.infra):
        changes.mark_files_outdated(space)
        return partial
    return space_rows.load(space, now=now, full=full, has_mesh=has_mesh)


def _schedule(rows: SpaceRows, report: PassReport, mine: Lease) -> float | None:
    """Store the loop's own columns of the space, among them when the next pass is due.

    ``attempts`` becomes 1 after a failed pass, else 0. Nothing is stored if another worker has the
    lease.

    A change that was requested during the pass has set ``next_attempt_at``: this value stays, and
    the result is 0. Otherwise return the seconds until the next pass if this one ended with a wait,
    else None.
    """
    space, outcome = rows.space, report.outcome
    fields: dict[str, Any] = {"attempts": int(isinstance(outcome, Failed))}
    if isinstance(outcome, Done) and rows.full:
        fields["last_full_pass_at"] = rows.now
    if isinstance(outcome, Done) and not rows.partial:
        fields |= {
            "files_outdated": False,
            "files_built_at": rows.now,
            "known_boots": dict(report.boots),
        }
    row = AddressSpace.objects.filter(id=space.id, claimed_by=mine.holder)
    row.update(**fields)
    now = mine.clock()
    seconds, waits = _NextPass(rows, report, now).choose()
    unchanged = row.filter(next_attempt_at=space.next_attempt_at)
    if not unchanged.update(next_attempt_at=now + timedelta(seconds=seconds), **waits):
        return 0.0
    return seconds if isinstance(outcome, Wait) else None


@dataclass(frozen=True)
class _NextPass:
    """Computes when the next pass over a space is due; ``now`` is the end of this pass."""

    rows: SpaceRows
    report: PassReport
    now: datetime

    def choose(self) -> tuple[float, dict[str, Any]]:
        """Return the seconds until the next pass, and two columns of the space.

        The columns are ``waiting`` and ``waiting_since``. Both are None if the pass did not end
        with a wait.
        """
        outcome = self.report.outcome
        if not isinstance(outcome, Wait):
            # Jitter spreads the full passes of spaces that were created at the same time.
            settled = FULL_PASS_EVERY.total_seconds() * random.uniform(_EARLIEST, 1.0)
            settled = min(settled, self._until_fixed(), self._until_files())
            seconds = settled if isinstance(outcome, Done) else FAILED_DELAY_SECONDS
            return seconds, {"waiting": None, "waiting_since": None}
        space = self.rows.space
        # The message is left out: it may change while the wait is the same.
        waits_for = Waiting(
            generation=space.generation,
            step=self.report.steps[-1]["name"],
            reason=outcome.reason,
            instances=tuple(sorted(self.report.down)),
            partial=self.rows.partial and outcome.reason is not Reason.INSTANCE_UNREACHABLE,
        )
        is_same = waiting.of(space) == waits_for
        since = space.waiting_since if is_same and space.waiting_since else self.now
        return pause(outcome, self.now - since), {
            "waiting": waits_for.as_json(),
            "waiting_since": since,
        }

    def _until_files(self) -> float:
        """Return the seconds until the start-up files may be written again.

        Infinite unless this pass was partial, because any other pass has written them.
        """
        if not self.rows.partial:
            return math.inf
        built_at = self.rows.space.files_built_at or self.rows.now
        return max(0.0, (built_at + changes.FILES_EVERY - self.now).total_seconds())

    def _until_fixed(self) -> float:
        """Return the seconds until the next check of a problem with the endpoint or the mesh.

        Such a problem has its own condition and leaves the space Ready. Infinite if there is none;
        otherwise a tenth of the time that it has lasted, at least 5 s.
        """
        troubles = {
            phases.REACHABLE: self.report.endpoint_trouble,
            phases.ROUTERS: self.report.unjoined,
        }
        begun = [self._begun(kind) for kind, trouble in troubles.items() if trouble]
        pauses = [(self.now - since).total_seconds() / 10 for since in begun]
        return max(_SHORTEST_RECHECK_SECONDS, min(pauses, default=math.inf))

    def _begun(self, kind: str) -> datetime:
        """Return when the stored condition ``kind`` got its status.

        That is ``now`` if the status is True, or if the space has no such condition. ``rows`` hold
        the condition as it was before this pass.
        """
        known = phases.find_condition(self.rows.space.conditions, kind)
        if known is None or known["status"] == "True":
            return self.now
        return datetime.fromisoformat(known["since"])


def _back_off(space: AddressSpace, mine: Lease) -> None:
    """Count a crash, and delay the next pass.

    The delay doubles with each crash, up to 5 minutes. A change that was requested during the pass
    has set the time of the next pass, which then stays. From the third attempt on, the status of
    the space shows the crash.
    """
    attempts = space.attempts + 1
    delay = min(_LONGEST_BACKOFF_SECONDS, 2.0 ** min(attempts, 10)) * random.uniform(0.5, 1.0)
    row = AddressSpace.objects.filter(id=space.id, claimed_by=mine.holder)
    row.update(attempts=attempts)
    unchanged = row.filter(next_attempt_at=space.next_attempt_at)
    unchanged.update(next_attempt_at=mine.clock() + timedelta(seconds=delay))
    # Last, because this raises too if the content of the row has caused the crash.
    if attempts >= _REPORTED_AFTER_ATTEMPTS:
        status.record_crash(row, mine.clock())
