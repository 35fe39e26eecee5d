"""Dunning: reminders of unpaid invoices, then no sending, then no connections; lifted by payment.

Level-triggered: each pass compares the unpaid invoices with the present time, and makes cases and
tenants agree with the result. A notice to the tenant names what happens next, and when. The case
stores these instants, and no restriction begins before them. Locks: the tenant, then its spaces.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from plans.invoicing import receiving
from plans.models import DunningCase, DunningPause, Invoice
from plans.rating import money
from tenants.actions import unpaid_stages
from tenants.models import Tenant, UnpaidStage
from tenants.notifications import outbox

logger = structlog.get_logger(__name__)


class NotPaused(Conflict):
    """Dunning of the tenant is not paused."""

    code = "dunning.not_paused"


@dataclass(frozen=True)
class Schedule:
    """The days after an invoice's due time on which dunning acts.

    Reminders are written after each of ``reminder_days``; without any, dunning is off. Sending
    stops after ``limit_days``, and connections are refused after ``suspend_days``; 0: never.
    Neither begins less than ``notice_days`` after the notice to the tenant.
    """

    reminder_days: tuple[int, ...]
    limit_days: int
    suspend_days: int
    notice_days: int

    def limit_at(self, due_at: datetime, now: datetime) -> datetime | None:
        """Return when sending stops if the tenant gets the notice at ``now``; None: never."""
        return self._not_before_notice(due_at, self.limit_days, now)

    def suspend_at(self, due_at: datetime, now: datetime) -> datetime | None:
        """Return from when connections are refused after a notice at ``now``; None: never."""
        return self._not_before_notice(due_at, self.suspend_days, now)

    def reached(self, due_at: datetime, now: datetime) -> list[int]:
        """Return the days of the reminders that are due at ``now``."""
        return [days for days in self.reminder_days if due_at + timedelta(days=days) <= now]

    def _not_before_notice(self, due_at: datetime, days: int, now: datetime) -> datetime | None:
        if not days:
            return None
        notice = timedelta(days=self.notice_days)
        return max(due_at + timedelta(days=days), now + notice).replace(microsecond=0)


def schedule() -> Schedule:
    """Return the schedule of the installation, from its settings."""
    return Schedule(
        settings.DUNNING_REMINDER_DAYS,
        settings.DUNNING_LIMIT_DAYS,
        settings.DUNNING_SUSPEND_DAYS,
        settings.DUNNING_NOTICE_DAYS,
    )


def advance_all(now: datetime) -> None:
    """Call ``advance`` for each tenant with an invoice to remind of, an open case or a stage.

    The reminders of an invoice begin on its first reminder day. A tenant that fails is logged; the
    others still advance.

    Raises:
        OperationalError, InterfaceError: the database is not available; the next pass goes on.
    """
    for tenant_id in _concerned(now):
        try:
            advance(tenant_id, now)
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:
            logger.error("dunning did not advance", tenant=tenant_id, exc_info=error)


def advance(tenant_id: str, now: datetime) -> None:
    """Make cases, reminders and the stage of one tenant agree with its unpaid invoices. Idempotent.

    Everything happens in one transaction. If it is killed, the next pass does the same again.
    """
    rules = schedule()
    with transaction.atomic():
        # ``no_key`` lets others insert rows that refer to the tenant meanwhile.
        tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
        cases = _end_settled(tenant, now)
        is_paused = _is_paused(tenant, now, cases, rules)
        stage = UnpaidStage.NONE
        if rules.reminder_days and not is_paused:
            unpaid = Invoice.objects.filter(receiving.unpaid(now), tenant=tenant)
            # Documents may be large, and no reminder reads them.
            unpaid = unpaid.defer("document", "manifest", "quality")
            for invoice in unpaid.order_by("due_at", "id"):
                _remind(invoice, cases, rules, now)
            stage = _stage(cases.values(), now)
        # While dunning is paused too: a paused tenant has no stage.
        _set_stage(tenant, stage, now)


def pause(
    *, tenant: Tenant, reason: str, until: datetime | None, by: Actor, now: datetime
) -> DunningPause:
    """Pause the dunning of the tenant until ``until`` (None: until ``resume``).

    Restrictions by dunning end: quota enforcement, which starts after the commit, lifts them. A
    second pause replaces the first.

    Raises:
        Invalid: there is no reason, or ``until`` is not later than now.
    """
    if not reason.strip():
        raise Invalid("Say why dunning is paused.", code="dunning.reason", reason=["Needed."])
    if until is not None and until <= now:
        raise Invalid("The pause must end later.", code="dunning.until", until=["Later than now."])
    with transaction.atomic():
        locked = Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
        # First, because a tenant has one open pause at most.
        _pauses(locked).update(ended_at=now)
        row = DunningPause.objects.create(
            tenant=locked, reason=reason.strip(), paused_by=by.name, paused_at=now, until=until
        )
        after = {"until": until.isoformat() if until else None}
        subject = audit.Subject("tenant", locked.pk, locked.name, locked.pk)
        audit.record(by, "dunning.pause", subject, after=after, reason=row.reason)
        _set_stage(locked, UnpaidStage.NONE, now)
    return row


def resume(*, tenant: Tenant, by: Actor, now: datetime) -> None:
    """End the pause. The tenant gets a new notice of each open case.

    No restriction begins before the instants of the new notices.

    Raises:
        NotPaused: dunning of the tenant is not paused.
    """
    with transaction.atomic():
        locked = Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
        open_pause = _pauses(locked).first()
        if open_pause is None:
            raise NotPaused("Dunning of this tenant is not paused.")
        subject = audit.Subject("tenant", locked.pk, locked.name, locked.pk)
        audit.record(by, "dunning.resume", subject, before={"reason": open_pause.reason})
        # Not ``ended_at``: ``advance`` ends a pause whose time is over, and gives notice again.
        open_pause.until = now
        open_pause.save(update_fields=["until"])
        advance(locked.pk, now)


def overdue(now: datetime) -> QuerySet[Invoice]:
    """Return the overdue invoices of all tenants, the oldest first, with their case and pause.

    The rows have these annotations: ``outstanding_minor``; ``noticed_at``, ``limit_at`` and
    ``suspend_at`` of the open case, None without a case; ``pause``, the reason of the tenant's open
    pause, None without a pause.
    """
    case = DunningCase.objects.filter(invoice=OuterRef("pk"), ended_at__isnull=True)
    pauses = DunningPause.objects.filter(tenant=OuterRef("tenant"), ended_at__isnull=True)
    rows = Invoice.objects.filter(receiving.unpaid(now)).select_related("tenant")
    return (
        rows.defer("document", "manifest", "quality")
        .annotate(
            outstanding_minor=receiving.outstanding(),
            noticed_at=Subquery(case.values("noticed_at")),
            limit_at=Subquery(case.values("limit_at")),
            suspend_at=Subquery(case.values("suspend_at")),
            pause=Subquery(pauses.values("reason")),
        )
        .order_by("due_at", "id")
    )


def _concerned(now: datetime) -> list[str]:
    cases = DunningCase.objects.filter(ended_at__isnull=True).values("tenant_id")
    found = set(cases.values_list("tenant_id", flat=True))
    found |= set(Tenant.objects.exclude(unpaid_stage="").values_list("id", flat=True))
    if settings.DUNNING_REMINDER_DAYS:
        # The days are in ascending order. Before the first reminder there is nothing to do.
        first = now - timedelta(days=settings.DUNNING_REMINDER_DAYS[0])
        unpaid = Invoice.objects.filter(receiving.unpaid(now), due_at__lte=first)
        found |= set(unpaid.values_list("tenant_id", flat=True))
    return sorted(found)


def _end_settled(tenant: Tenant, now: datetime) -> dict[str, DunningCase]:
    """End the cases of invoices that are not overdue any more; return {invoice id: open case}."""
    cases = DunningCase.objects.filter(tenant=tenant, ended_at__isnull=True)
    unpaid = Q(invoice__in=Invoice.objects.filter(receiving.unpaid(now), tenant=tenant))
    cases.exclude(unpaid).update(ended_at=now)
    return {case.invoice_id: case for case in cases.select_related("invoice")}


def _is_paused(
    tenant: Tenant, now: datetime, cases: dict[str, DunningCase], rules: Schedule
) -> bool:
    """Return whether dunning is paused. End a pause whose time is over, and give a new notice."""
    row = _pauses(tenant).first()
    if row is None:
        return False
    if row.until is None or row.until > now:
        return True
    row.ended_at = now
    row.save(update_fields=["ended_at"])
    for case in cases.values():
        # The instants of the notice before the pause may be past: give the time of notice again.
        case.limit_at = case.suspend_at = None
        _notice(case, rules, now, tenant)
    return False


def _pauses(tenant: Tenant) -> Any:
    return DunningPause.objects.filter(tenant=tenant, ended_at__isnull=True)


def _remind(
    invoice: Invoice, cases: dict[str, DunningCase], rules: Schedule, now: datetime
) -> None:
    """Write one reminder if one is due; several that were missed become one."""
    assert invoice.due_at is not None  # ``receiving.unpaid`` selects issued invoices
    reached = rules.reached(invoice.due_at, now)
    case = cases.get(invoice.id)
    if not reached or (case is not None and set(reached) <= set(case.reminded_days)):
        return
    if case is None:
        case = cases[invoice.id] = DunningCase(
            invoice=invoice, tenant_id=invoice.tenant_id, opened_at=now
        )
    case.reminded_days = reached
    _notice(case, rules, now, invoice.tenant)


def _notice(case: DunningCase, rules: Schedule, now: datetime, tenant: Tenant) -> None:
    """Write a notice of what happens when. Instants of an earlier notice stay as they are."""
    due_at = case.invoice.due_at
    assert due_at is not None
    case.limit_at = case.limit_at or rules.limit_at(due_at, now)
    case.suspend_at = case.suspend_at or rules.suspend_at(due_at, now)
    case.noticed_at = now
    case.save()
    invoice = case.invoice
    outstanding = receiving.outstanding_minor(invoice)
    outbox.write(
        "invoice.reminder",
        tenant=tenant,
        # With the instant, because each reminder of a case is a notice of its own.
        key=f"{case.pk}:{now.isoformat()}",
        fields={
            "invoice": invoice.id,
            "number": invoice.number,
            "due_on": str(invoice.due_on),
            "outstanding": money.display(outstanding, invoice.currency),
            "consequence": consequence(case, now),
        },
        now=now,
    )


def consequence(case: DunningCase, now: datetime) -> str:
    """Return what happens, and when, if the invoice of the case stays unpaid."""
    parts = []
    if case.limit_at is not None:
        verb = "can no longer send" if case.limit_at > now else "cannot send since then"
        parts.append(f"From {case.limit_at:%Y-%m-%d %H:%M} UTC your clients {verb}.")
    if case.suspend_at is not None:
        parts.append(
            f"From {case.suspend_at:%Y-%m-%d %H:%M} UTC their connections are refused. Messages, "
            "addresses and users are kept."
        )
    parts.append("A payment ends this at once." if len(parts) else "Please pay it.")
    return " ".join(parts)


def _stage(cases: Iterable[DunningCase], now: datetime) -> UnpaidStage:
    found = list(cases)
    if any(case.suspend_at is not None and case.suspend_at <= now for case in found):
        return UnpaidStage.SUSPENDED
    if any(case.limit_at is not None and case.limit_at <= now for case in found):
        return UnpaidStage.LIMITED
    return UnpaidStage.NONE


_KINDS = {
    UnpaidStage.NONE: "dunning.lifted",
    UnpaidStage.LIMITED: "dunning.limited",
    UnpaidStage.SUSPENDED: "dunning.suspended",
}


def _set_stage(tenant: Tenant, stage: UnpaidStage, now: datetime) -> None:
    """Store the stage, restrict the spaces by it, and report a change. Idempotent.

    Quota enforcement, which starts after the commit, lifts what the stage no longer restricts.
    """
    if stage == tenant.unpaid_stage == UnpaidStage.NONE:
        return
    if stage != tenant.unpaid_stage:
        key = f"{tenant.pk}:{now.isoformat()}"
        outbox.write(_KINDS[stage], tenant=tenant, key=key, fields={}, now=now)
    tenant.unpaid_stage = unpaid_stages.move(tenant=tenant, stage=stage).unpaid_stage
