"""Begins close runs, requests the close of their invoices, and approves or issues their drafts.

A worker does the rest (``workers.metering.run_closing``). Each call reads from the rows what is
left to do. So every call may be repeated, and a process may be killed between any two calls.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

import structlog
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Missing, WaypostError
from plans.invoicing import invoice_closing, issuing, open_periods, states
from plans.invoicing.invoice_closing import PeriodOverlaps
from plans.invoicing.states import Move
from plans.models import CloseRun, CloseRunAction, CloseRunInvoice, Invoice
from plans.rating.periods import Period
from tenants.models import Tenant

State = Invoice.State
logger = structlog.get_logger(__name__)

AT_ONCE = 500  # invoices in one transaction
# A tenant whose period could not be requested is left to the next run after this.
_SKIPPED_FOR = timedelta(hours=1)
_LARGE = ("document", "manifest", "quality")


class NothingToClose(Conflict):
    """No period is due, or no invoice is held, so a run would have no invoice."""

    code = "close_run.nothing_to_close"


class NothingToDo(Conflict):
    """The run has no invoice in the state from which it could be approved or issued."""

    code = "close_run.nothing_to_do"


class ActionRunning(Conflict):
    """Invoices of the run are being approved or issued already."""

    code = "close_run.action_running"


def start(
    *,
    by: Actor,
    skip_grace: bool = False,
    again: bool = False,
    tenants: Collection[Tenant] = (),
    now: datetime | None = None,
) -> CloseRun:
    """Begin a run that closes all due periods, of all tenants or of ``tenants``.

    ``skip_grace`` is the audited "close now": it also closes periods that are over but whose grace
    period is not. ``again`` closes held invoices again, and no new periods. A worker does the work.

    Raises:
        NothingToClose: the run would have no invoice.
    """
    run = CloseRun(
        requested_by=by.name,
        skip_grace=skip_grace,
        again=again,
        tenant_ids=sorted(tenant.id for tenant in tenants),
    )
    # The first one is enough: a worker finds all of them (``request_invoices``).
    if next(_wanted(run, now or timezone.now()), None) is None:
        raise NothingToClose(_nothing_to_close(skip_grace=skip_grace, again=again))
    return _begun(run, by)


def _nothing_to_close(*, skip_grace: bool, again: bool) -> str:
    if again:
        return "No invoice is held."
    if skip_grace:
        return (
            "No period has ended. To end a running period, close it for the tenant: "
            "Close a period now."
        )
    return (
        "No period is due. To close periods that are over before their grace period ends, start "
        "a run without the grace period."
    )


def start_due(*, by: Actor, now: datetime) -> CloseRun | None:
    """Begin a run if a period is due that no run closes; None if there is nothing to do.

    Tenants that a run of the last hour had to skip do not count.
    """
    if CloseRun.objects.filter(finished_at__isnull=True, requested_at__isnull=True).exists():
        return None  # it will request all that is due
    recent = CloseRun.objects.filter(requested_at__gt=now - _SKIPPED_FOR).exclude(skipped=[])
    skipped = {row["tenant"] for rows in recent.values_list("skipped", flat=True) for row in rows}
    run = CloseRun(requested_by=by.name)
    if all(period.tenant_id in skipped for period in _wanted(run, now)):
        return None
    return _begun(run, by)


def unfinished() -> list[str]:
    """Return the ids of the runs that a worker has to go on with, the oldest first."""
    rows = CloseRun.objects.filter(finished_at__isnull=True).order_by("created_at")
    return list(rows.values_list("id", flat=True))


def running_actions() -> list[str]:
    """Return the ids of the actions that a worker has to go on with, the oldest first."""
    rows = CloseRunAction.objects.filter(finished_at__isnull=True).order_by("created_at")
    return list(rows.values_list("id", flat=True))


def get(run_id: str) -> CloseRun:
    """Return the run with this id; raise Missing if there is none."""
    run = CloseRun.objects.filter(pk=run_id).first()
    if run is None:
        raise Missing("There is no such close run; see the list of close runs.")
    return run


def request_invoices(run: CloseRun, *, now: datetime) -> None:
    """Move the invoices that ``run`` is to close to ``closing``; create those that do not exist.

    In transactions of ``AT_ONCE`` invoices. What fails for one tenant is noted in ``skipped`` of
    the run. Idempotent: invoices of a call that was killed are in the run already.
    """
    by, skipped = Actor(run.requested_by), list[dict[str, str]]()
    wanted = list(_wanted(run, now))
    for first in range(0, len(wanted), AT_ONCE):
        refused = {row["tenant"] for row in skipped}
        chunk = [one for one in wanted[first : first + AT_ONCE] if one.tenant_id not in refused]
        try:
            _request(run, chunk, by)
        except (WaypostError, IntegrityError):  # a trigger of the database refuses overlaps too
            # One tenant refuses: the others are requested one by one.
            for one in chunk:
                # ``due`` begins where the tenant's last invoice ends. An invoice for a later period
                # would hide the one that was refused.
                if one.tenant_id not in {row["tenant"] for row in skipped}:
                    skipped += _request_alone(run, one, by)
    run.skipped, run.requested_at = skipped, now
    run.save(update_fields=["skipped", "requested_at", "updated_at"])


def act(*, run: CloseRun, kind: CloseRunAction.Kind, by: Actor, reason: str = "") -> CloseRunAction:
    """Request that all drafts of the run are approved, or all its approved invoices issued.

    A worker does it; the returned row shows how far it is.

    Raises:
        ActionRunning: an action on the run has not ended.
        NothingToDo: the run has no such invoice.
    """
    with transaction.atomic():
        # The run's lock makes two requests wait for each other, and the second one be refused.
        CloseRun.objects.select_for_update().get(pk=run.pk)
        if run.actions.filter(finished_at__isnull=True).exists():
            raise ActionRunning("Invoices of this run are being approved or issued: wait for it.")
        n_invoices = _candidates(run, kind).count()
        if not n_invoices:
            state = _FROM[kind].value
            raise NothingToDo(f"No invoice of this run is {state}: reload, and see the held ones.")
        action = CloseRunAction.objects.create(
            run=run, kind=kind, requested_by=by.name, reason=reason, n_invoices=n_invoices
        )
        audit.record(
            by,
            f"close_run.{kind.value}",
            audit.Subject("close_run", run.id, run.id),
            after={"invoices": n_invoices},
            reason=reason,
        )
        enqueue.after_commit("workers.act_on_close_run", action_id=action.id)
    return action


def carry_out(action_id: str, *, until: Callable[[], bool] = lambda: False) -> bool:
    """Approve or issue the invoices of an action, each in a transaction of its own.

    Stops early if ``until`` returns true. Returns whether the action has ended. An invoice that
    cannot be changed is noted in ``failures``, and the others go on. An invoice changes in the
    transaction that counts it, so the action may be killed and carried out again.
    """
    action = CloseRunAction.objects.select_related("run").get(pk=action_id)
    if action.finished_at is not None:
        return True
    by = Actor(action.requested_by)
    while not until():
        rows = _candidates(action.run, action.kind)
        invoice = rows.filter(pk__gt=action.cursor).order_by("pk").first()
        if invoice is None:
            action.finished_at = timezone.now()
            action.save(update_fields=["finished_at", "updated_at"])
            return True
        _carry_out(action, invoice, by)
    return False


_FROM = {
    CloseRunAction.Kind.APPROVE: State.DRAFT,
    CloseRunAction.Kind.ISSUE: State.APPROVED,
}


def _carry_out(action: CloseRunAction, invoice: Invoice, by: Actor) -> None:
    try:
        with transaction.atomic():
            if action.kind == CloseRunAction.Kind.APPROVE:
                issuing.approve(invoice=invoice, by=by, reason=action.reason)
            else:
                issuing.issue(invoice=invoice, by=by)
            _count(action, invoice, n_done=action.n_done + 1)
    except WaypostError as error:
        _count_failure(action, invoice, error.error_code, error.message)
    except (OperationalError, InterfaceError):
        raise  # without the database nothing can be counted
    except Exception:
        # Tried again it would fail again, and keep all invoices after it waiting.
        logger.exception("an invoice cannot be changed", invoice=invoice.id, action=action.id)
        text = "It failed because of a fault of Waypost: the worker's log has the reason."
        _count_failure(action, invoice, WaypostError.code, text)


def _count_failure(action: CloseRunAction, invoice: Invoice, code: str, message: str) -> None:
    action.refresh_from_db()  # the count of a change that was rolled back is only in memory
    failure = {"invoice": invoice.id, "code": code, "message": message}
    _count(action, invoice, failures=[*action.failures, failure])


def _count(action: CloseRunAction, invoice: Invoice, **changes: Any) -> None:
    # The cursor passes failed invoices too: their state is the same, so they would come again.
    for name, value in {**changes, "cursor": invoice.id}.items():
        setattr(action, name, value)
    action.save(update_fields=[*changes, "cursor", "updated_at"])


def _candidates(run: CloseRun, kind: str) -> QuerySet[Invoice]:
    """Return the invoices of the run that an action changes."""
    state = _FROM[CloseRunAction.Kind(kind)]
    rows = Invoice.objects.filter(close_runs__run=run, state=state)
    return rows.select_related("tenant").distinct()


class _Wanted(NamedTuple):
    """A period of a tenant that a run is to close."""

    tenant_id: str
    period: Period


def _wanted(run: CloseRun, now: datetime) -> Iterator[_Wanted]:
    if run.again:
        held = Invoice.objects.filter(state=State.HELD)
        if run.tenant_ids:
            held = held.filter(tenant_id__in=run.tenant_ids)
        rows = held.order_by("starts_at", "id").values_list("tenant_id", "starts_at", "ends_at")
        return (_Wanted(id, Period(start, end)) for id, start, end in rows)
    grace = timedelta(0) if run.skip_grace else invoice_closing.grace()
    return (_Wanted(*found) for found in open_periods.due(now, grace, run.tenant_ids))


def _begun(run: CloseRun, by: Actor) -> CloseRun:
    with transaction.atomic():
        run.save(force_insert=True)
        asked = {"skip_grace": run.skip_grace, "again": run.again, "tenants": len(run.tenant_ids)}
        subject = audit.Subject("close_run", run.id, run.id)
        audit.record(by, "close_run.start", subject, after=asked)
        enqueue.after_commit("workers.close_run", run_id=run.id)
    return run


def _request_alone(run: CloseRun, wanted: _Wanted, by: Actor) -> list[dict[str, str]]:
    """Request one invoice; return a row for ``skipped`` if that fails."""
    try:
        _request(run, [wanted], by)
    except (WaypostError, IntegrityError) as error:
        code = error.error_code if isinstance(error, WaypostError) else PeriodOverlaps.code
        logger.error("a due period was not closed", tenant_id=wanted.tenant_id, code=code)
        message = (
            error.message
            if isinstance(error, WaypostError)
            else ("Another invoice of the tenant covers part of this period.")
        )
        return [{"tenant": wanted.tenant_id, "code": code, "message": message}]
    return []


def _request(run: CloseRun, wanted: Sequence[_Wanted], by: Actor) -> None:
    if not wanted:
        return
    with transaction.atomic():
        ids = sorted({one.tenant_id for one in wanted})
        # One request per tenant at a time: two could otherwise create overlapping invoices.
        list(Tenant.objects.select_for_update().filter(pk__in=ids).order_by("pk").values("pk"))
        existing = _existing(wanted)
        new = [
            Invoice(
                tenant_id=one.tenant_id, starts_at=one.period.starts_at, ends_at=one.period.ends_at
            )
            for one in wanted
            if (one.tenant_id, one.period) not in existing
        ]
        Invoice.objects.bulk_create(new)
        rows = states.locked_each([row.id for row in (*new, *existing.values())])
        moved = [row for row in rows if row.state in {State.OPEN, State.HELD}]
        reason = _reason(run)
        states.move_each([Move(row, reason) for row in moved], State.CLOSING, by=by)
        _begin_operations(moved)
        CloseRunInvoice.objects.bulk_create(CloseRunInvoice(run=run, invoice=row) for row in moved)


def _existing(wanted: Sequence[_Wanted]) -> dict[tuple[str, Period], Invoice]:
    """Return the invoices that exist for the wanted periods.

    Raises:
        PeriodOverlaps: an invoice covers only a part of a wanted period.
    """
    # One query for the time from the first to the last period; the loop compares each of them.
    rows = (
        Invoice.valid()
        .filter(
            tenant_id__in={one.tenant_id for one in wanted},
            starts_at__lt=max(one.period.ends_at for one in wanted),
            ends_at__gt=min(one.period.starts_at for one in wanted),
        )
        .defer(*_LARGE)
    )
    ordered = sorted(rows, key=lambda row: row.tenant_id)
    mine = {id: list(found) for id, found in groupby(ordered, key=lambda row: row.tenant_id)}
    found: dict[tuple[str, Period], Invoice] = {}
    for one in wanted:
        for row in mine.get(one.tenant_id, []):
            if Period(row.starts_at, row.ends_at) == one.period:
                found[one.tenant_id, one.period] = row
            elif row.starts_at < one.period.ends_at and row.ends_at > one.period.starts_at:
                raise PeriodOverlaps("Another invoice covers part of this period.")
    return found


def _begin_operations(invoices: Iterable[Invoice]) -> None:
    rows = list(invoices)
    running = {row.subject_id for row in operations.running("invoice", [r.id for r in rows])}
    subjects = {
        ("invoice", row.id, states.subject_of(row).name): row.tenant_id
        for row in rows
        if row.id not in running
    }
    operations.begin_each("invoice.close", subjects)


def _reason(run: CloseRun) -> str:
    if run.again:
        return f"closed again by run {run.id}"
    grace = ", without the grace period" if run.skip_grace else ""
    return f"the period is over{grace}; run {run.id}"


def left(run: CloseRun) -> QuerySet[CloseRunInvoice]:
    """Return the rows of the run's invoices that are neither a draft nor held yet."""
    return run.invoices.filter(done_at__isnull=True)


def settle(run: CloseRun, *, now: datetime) -> bool:
    """Mark the invoices that are no longer ``closing`` as done; return whether the run has ended.

    So a kill between the close of an invoice and its mark does no harm. Idempotent.
    """
    with transaction.atomic():
        left(run).exclude(invoice__state=State.CLOSING).update(done_at=now)
        if left(run).exists():
            return False
        # Evidence is stored only so that a killed run need not gather it again.
        run.invoices.filter(evidence__isnull=False).update(evidence=None)
        ended = CloseRun.objects.filter(pk=run.pk, finished_at__isnull=True)
        ended.update(finished_at=now, step="", message="", retry_at=None, updated_at=now)
    return True
