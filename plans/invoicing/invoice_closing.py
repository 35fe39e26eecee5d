"""Takes an invoice from an open period to a draft.

``request_close`` moves one invoice to ``closing``; a close run (``close_runs``) moves many. A
worker then gathers the evidence and calls ``close``, or ``hold`` if the evidence cannot be
gathered. Each call may be repeated. After a crash in between, the invoice is still ``closing``, and
the periodic task finds the invoice with ``closing_invoices``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from controlplane.core import enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from plans.invoicing import draft_batch, open_periods, states
from plans.invoicing.close_validation import Reason
from plans.invoicing.draft_batch import Draft, EvidenceOutdated
from plans.invoicing.evidence import Evidence
from plans.invoicing.facts import NoSubscription
from plans.invoicing.states import Move
from plans.models import CloseRunInvoice, Invoice, InvoiceLine
from plans.rating.periods import Period
from plans.usage import reading
from tenants.models import Tenant

State = Invoice.State


class TooEarly(Conflict):
    """The period cannot be closed yet.

    Either it is not over, or its grace period is not over and "close now" was not requested, or
    "close now" was requested in the second in which the period or the tenant's first plan began.
    """

    code = "invoice.too_early"


class PeriodOverlaps(Conflict):
    """Another invoice of the tenant covers part of the period."""

    code = "invoice.period_overlaps"


def request_close(
    *,
    tenant: Tenant,
    starts_at: datetime,
    ends_at: datetime,
    by: Actor,
    now_forced: bool = False,
    now: datetime | None = None,
) -> tuple[Invoice, Operation]:
    """Move the period's invoice to ``closing`` and enqueue the Celery task that closes it.

    Returns the invoice and the operation that shows how far the close is. Creates the invoice if
    there is none. Truncates both ends to whole seconds. ``now_forced`` is the audited "close now":
    it skips the grace period, but the period must be over. A repeated request while closing changes
    nothing and returns the running operation. A held or draft invoice is closed again.

    Raises:
        TooEarly: the period or its grace period is not over.
        PeriodOverlaps: another invoice covers part of the period.
        WrongState: the invoice was approved or issued already.
        Invalid: the period does not lie in one billing month of the tenant.
    """
    period = open_periods.whole_seconds(Period(starts_at, ends_at))
    open_periods.require_one_month(period, tenant.billing_time_zone)
    earliest = period.ends_at if now_forced else period.ends_at + grace()
    if (now or timezone.now()) < earliest:
        raise TooEarly(
            f"This period can be closed from {earliest.isoformat()} on.",
            earliest=earliest.isoformat(),
        )
    with transaction.atomic():
        # One request per tenant at a time: two could otherwise create overlapping invoices.
        Tenant.objects.select_for_update().get(pk=tenant.pk)
        invoice = states.locked(_invoice(tenant, period))
        if invoice.state == State.CLOSING:
            return invoice, _running(invoice, by)
        reason = "close now, without the grace period" if now_forced else "the period is over"
        states.move(invoice, State.CLOSING, by=by, reason=reason)
        operation = _running(invoice, by)
        # After commit: a worker that starts earlier would not see the new state.
        enqueue.after_commit("workers.close_invoice", invoice_id=invoice.id)
    return invoice, operation


def close(*, invoice: Invoice, evidence: Evidence, by: Actor) -> Invoice:
    """Validate the evidence, price the usage, and move the invoice to ``held`` or ``draft``.

    The same as ``close_each`` for one invoice. Returns it as it is afterwards.

    Raises:
        WrongState: the invoice is ``open``: its close was not requested.
        EvidenceOutdated: usage changed since the evidence was gathered; gather it again.
    """
    outdated = close_each(evidence={invoice.id: evidence}, by=by)
    if outdated:
        raise outdated[invoice.id]
    return Invoice.objects.select_related("tenant").get(pk=invoice.pk)


def close_each(*, evidence: Mapping[str, Evidence], by: Actor) -> dict[str, EvidenceOutdated]:
    """Validate the evidence of invoices of one period, and make each of them a draft or hold it.

    ``evidence`` is by the invoice's id; each invoice is of another tenant. A held invoice gets the
    reasons, a draft its lines, document and manifest. Everything happens in one transaction, so
    after a crash all are still ``closing``. The number of queries does not grow with the number of
    invoices. Copies of gold wait for the end of the transaction, so the drafts bill the usage that
    was validated. Invoices that are no longer ``closing`` do not change.

    Returns by id the invoices whose usage changed since their evidence was gathered. They stay
    ``closing``: gather their evidence again.

    Raises:
        WrongState: an invoice is ``open``: its close was not requested.
    """
    with transaction.atomic():
        rows = states.locked_each(evidence)
        if any(row.state == State.OPEN for row in rows):
            raise states.WrongState("Request the close first.", state=State.OPEN)
        closing = [row for row in rows if row.state == State.CLOSING]
        if not closing:
            return {}
        reading.keep_still()  # before the first read of usage
        found = draft_batch.outcomes(closing, evidence)
        drafts, held = dict[str, Draft](), dict[str, list[Reason]]()
        outdated = dict[str, EvidenceOutdated]()
        for id, outcome in found.items():
            if isinstance(outcome, Draft):
                drafts[id] = outcome
            elif isinstance(outcome, EvidenceOutdated):
                outdated[id] = outcome
            else:
                held[id] = outcome
        _hold([row for row in closing if row.id in held], held, by)
        reason = "close validation found no problem"
        store_drafts([row for row in closing if row.id in drafts], drafts, by=by, reason=reason)
    return outdated


def hold(*, invoice: Invoice, code: str, message: str, by: Actor) -> Invoice:
    """Hold a closing invoice whose evidence could not be gathered, as ``hold_each`` does."""
    hold_each(reasons={invoice.id: Reason(code, message)}, by=by)
    return Invoice.objects.select_related("tenant").get(pk=invoice.pk)


def hold_each(*, reasons: Mapping[str, Reason], by: Actor) -> None:
    """Hold closing invoices whose evidence could not be gathered; ``reasons`` are by their ids.

    Invoices in any other state do not change.
    """
    with transaction.atomic():
        rows = [row for row in states.locked_each(reasons) if row.state == State.CLOSING]
        _hold(rows, {row.id: [reasons[row.id]] for row in rows}, by)


def closing_invoices() -> list[str]:
    """Return the ids of the invoices in state ``closing`` that no close run closes.

    The one that changed longest ago comes first.
    """
    of_runs = CloseRunInvoice.objects.filter(invoice=OuterRef("pk"), done_at__isnull=True)
    return list(
        Invoice.objects.filter(~Exists(of_runs), state=State.CLOSING)
        .order_by("updated_at")
        .values_list("id", flat=True)
    )


def close_now(
    *, tenant: Tenant, by: Actor, now: datetime | None = None
) -> tuple[Invoice, Operation]:
    """End the tenant's running period at this instant and request its close, without grace.

    The next period begins at this instant, truncated to a whole second. Returns the invoice and
    the operation of the close.

    Raises:
        TooEarly: the running period, or the tenant's first plan, began within the current second.
        NoSubscription: the tenant had no plan in any part of the period up to this instant.
        All errors of ``request_close``.
    """
    instant = now or timezone.now()
    running = open_periods.running(tenant, instant)
    if not open_periods.has_a_second(tenant, running, instant):
        raise TooEarly("There is nothing to close yet: try again in a second.")
    period = open_periods.whole_seconds(Period(running.starts_at, instant))
    if not open_periods.has_plan(tenant, period):
        # Its invoice would be held for ever, so that the tenant would never be settled.
        raise NoSubscription(
            f"The tenant had no plan since {period.starts_at.isoformat()}, so there is nothing to "
            "close."
        )
    return request_close(
        tenant=tenant,
        starts_at=period.starts_at,
        ends_at=period.ends_at,
        by=by,
        now_forced=True,
        now=instant,
    )


def grace() -> timedelta:
    """Return the time between the end of a period and its close, in which late samples arrive."""
    return timedelta(hours=settings.CLOSE_GRACE_HOURS)


def _invoice(tenant: Tenant, period: Period) -> Invoice:
    invoice = Invoice.valid().filter(tenant=tenant, starts_at=period.starts_at).first()
    if invoice is not None and invoice.ends_at == period.ends_at:
        return invoice
    # Every instant belongs to one invoice at most, or usage would be billed twice.
    overlapping = Invoice.objects.filter(
        tenant=tenant, starts_at__lt=period.ends_at, ends_at__gt=period.starts_at
    ).first()
    if overlapping is not None:
        raise PeriodOverlaps(
            f"The invoice of {overlapping.starts_at.isoformat()} to "
            f"{overlapping.ends_at.isoformat()} covers part of this period: close that one, or "
            "request only the rest of the period.",
            invoice=overlapping.id,
        )
    return Invoice.objects.create(tenant=tenant, starts_at=period.starts_at, ends_at=period.ends_at)


def _running(invoice: Invoice, by: Actor) -> Operation:
    subject = states.subject_of(invoice)
    running = Operation.objects.filter(
        subject_type=subject.kind, subject_id=subject.id, state=Operation.State.RUNNING
    ).first()
    return running or operations.begin(
        tenant_id=invoice.tenant_id,
        kind="invoice.close",
        subject=(subject.kind, subject.id, subject.name),
        generation=1,
        by=by,
    )


def _hold(invoices: Sequence[Invoice], reasons: Mapping[str, list[Reason]], by: Actor) -> None:
    texts = {id: " ".join(reason.message for reason in found) for id, found in reasons.items()}
    moves = [
        Move(row, texts[row.id], {"held_reasons": [reason.as_row() for reason in reasons[row.id]]})
        for row in invoices
    ]
    states.move_each(moves, State.HELD, by=by)
    operations.fail_each("invoice", {row.id: ("invoice.held", texts[row.id]) for row in invoices})


def store_drafts(
    invoices: Sequence[Invoice], drafts: Mapping[str, Draft], *, by: Actor, reason: str
) -> None:
    """Make closing invoices drafts: store document, columns and lines; end their operations.

    ``drafts`` are by the invoice's id. Every invoice must be locked by the transaction.
    """
    if not invoices:
        return
    # The lines of an earlier draft of these invoices.
    InvoiceLine.objects.filter(invoice__in=[row.pk for row in invoices]).delete()
    InvoiceLine.objects.bulk_create(
        # The rows are made from the document, so that they cannot differ from it.
        InvoiceLine(
            invoice=row,
            position=line["position"],
            meter=line["meter"],
            description=line["description"],
            quantity=line["quantity"],
            unit=line["unit"],
            unit_price=line["unit_price"],
            amount_minor=line["amount_minor"],
            detail={**line["detail"], "kind": line["kind"]},
        )
        for row in invoices
        for line in drafts[row.id].made["lines"]
    )
    moves = [Move(row, reason, {"held_reasons": [], **drafts[row.id].columns}) for row in invoices]
    states.move_each(moves, State.DRAFT, by=by)
    operations.succeed_each("invoice", [row.id for row in invoices])
