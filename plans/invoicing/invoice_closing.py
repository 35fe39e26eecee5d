"""Takes an invoice from an open period to a draft.

``request_close`` moves the invoice to ``closing``, in a person's request or in the periodic task
(``close_due``). A worker then gathers the evidence and calls ``close``, or ``hold`` if the evidence
cannot be gathered. Each call may be repeated. After a crash in between, the invoice is still
``closing``, and the periodic task finds the invoice with ``closing_invoices``.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from controlplane.core import enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, WaypostError
from controlplane.core.models import Operation
from plans.invoicing import (
    close_validation,
    corrections,
    document,
    facts,
    invoice_quality,
    open_periods,
    rated_period,
    states,
)
from plans.invoicing.evidence import Evidence, UsageKey
from plans.invoicing.facts import Facts
from plans.models import Invoice, InvoiceLine
from plans.rating.periods import Period
from plans.usage import reading
from tenants.models import Tenant

State = Invoice.State
logger = structlog.get_logger(__name__)


class TooEarly(Conflict):
    """The period cannot be closed yet.

    Either it is not over, or its grace period is not over and "close now" was not requested, or
    "close now" was requested in the second in which the period or the tenant's first plan began.
    """

    code = "invoice.too_early"


class CorrectionNotRead(Conflict):
    """The usage of an earlier month changed while the evidence was gathered: gather it again."""

    code = "invoice.correction_not_read"


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
    _require_over(period, now or timezone.now(), now_forced=now_forced)
    with transaction.atomic():
        # One request per tenant at a time: two could otherwise create overlapping invoices.
        Tenant.objects.select_for_update().get(pk=tenant.pk)
        invoice = states.locked(_invoice(tenant, period))
        if invoice.state == State.CLOSING:
            return invoice, _running(invoice)
        reason = "close now, without the grace period" if now_forced else "the period is over"
        states.move(invoice, State.CLOSING, by=by, reason=reason)
        operation = _running(invoice)
        # After commit: a worker that starts earlier would not see the new state.
        enqueue.after_commit("workers.close_invoice", invoice_id=invoice.id)
    return invoice, operation


def close(*, invoice: Invoice, evidence: Evidence, by: Actor) -> Invoice:
    """Validate the evidence, price the usage, and move the invoice to ``held`` or ``draft``.

    A held invoice gets the reasons, a draft its lines, document and manifest. Everything happens in
    one transaction, so after a crash the invoice is still ``closing``. Copies of gold wait for the
    end of the transaction, so the draft bills the usage that was validated. An invoice that is no
    longer ``closing`` is returned unchanged.

    Raises:
        WrongState: the invoice is ``open``: its close was not requested.
        CorrectionNotRead: a month is to be corrected whose usage the evidence lacks.
        Unavailable: no catalog is published.
    """
    with transaction.atomic():
        current = states.locked(invoice)
        if current.state == State.OPEN:
            raise states.WrongState("Request the close first.", state=current.state)
        if current.state != State.CLOSING:
            return current
        reading.keep_still()  # before the first read of usage
        _judge(current, evidence, by)
    return current


def hold(*, invoice: Invoice, code: str, message: str, by: Actor) -> Invoice:
    """Hold a closing invoice whose evidence could not be gathered.

    ``code`` and ``message`` are stored as the reason. An invoice in any other state is returned
    unchanged.
    """
    with transaction.atomic():
        current = states.locked(invoice)
        if current.state == State.CLOSING:
            _hold(current, [close_validation.Reason(code, message)], by)
    return current


def corrected_spans(invoice: Invoice) -> list[Period]:
    """Return the span of each month that a close of ``invoice`` would correct now.

    The evidence must have the usage of these spans. Empty if nothing can be priced.
    """
    try:
        found = facts.gather(invoice.tenant, Period(invoice.starts_at, invoice.ends_at))
    except facts.NoSubscription:
        return []
    before = corrections.previous_invoice(found.tenant_id, found.period, found.month)
    so_far = corrections.month_after(before)
    if so_far is None:
        return []
    known = corrections.agreed(invoice.tenant_id, but=invoice.pk)
    read = rated_period.from_copy(invoice.tenant_id)
    rows = corrections.find(replace(found, so_far=so_far), known, before, read)
    return [corrections.span_of(row.month, found.period) for row in rows]


def closing_invoices() -> list[str]:
    """Return the ids of all invoices in state ``closing``, the one changed longest ago first."""
    return list(
        Invoice.objects.filter(state=State.CLOSING)
        .order_by("updated_at")
        .values_list("id", flat=True)
    )


def close_due(*, by: Actor, now: datetime | None = None) -> list[Invoice]:
    """Request the close of every period without an invoice whose grace period is over.

    Returns the invoices whose close it requested. Idempotent. If a request fails, logs the error;
    the next call tries this period and the tenant's later ones again.
    """
    instant = now or timezone.now()
    requested: list[Invoice] = []
    failed_tenants: set[str] = set()
    for tenant, period in open_periods.due(instant, _grace()):
        # ``due`` begins where the tenant's last invoice ends. An invoice for a later period would
        # make the next call skip the period that failed.
        if tenant.id in failed_tenants:
            continue
        start, end = period.starts_at, period.ends_at
        try:
            invoice, _ = request_close(
                tenant=tenant, starts_at=start, ends_at=end, by=by, now=instant
            )
            requested.append(invoice)
        except WaypostError as error:
            failed_tenants.add(tenant.id)
            logger.error("a due period was not closed", tenant_id=tenant.id, code=error.error_code)
    return requested


def close_now(
    *, tenant: Tenant, by: Actor, now: datetime | None = None
) -> tuple[Invoice, Operation]:
    """End the tenant's running period at this instant and request its close, without grace.

    The next period begins at this instant, truncated to a whole second. Returns the invoice and
    the operation of the close.

    Raises:
        TooEarly: the running period, or the tenant's first plan, began within the current second.
        All errors of ``request_close``.
    """
    instant = now or timezone.now()
    running = open_periods.running(tenant, instant)
    if not open_periods.has_a_second(tenant, running, instant):
        raise TooEarly("There is nothing to close yet: try again in a second.")
    return request_close(
        tenant=tenant,
        starts_at=running.starts_at,
        ends_at=instant,
        by=by,
        now_forced=True,
        now=instant,
    )


def _grace() -> timedelta:
    return timedelta(hours=settings.CLOSE_GRACE_HOURS)


def _require_over(period: Period, now: datetime, *, now_forced: bool) -> None:
    earliest = period.ends_at if now_forced else period.ends_at + _grace()
    if now < earliest:
        raise TooEarly(
            f"This period can be closed from {earliest.isoformat()} on.",
            earliest=earliest.isoformat(),
        )


def _invoice(tenant: Tenant, period: Period) -> Invoice:
    invoice = Invoice.objects.filter(tenant=tenant, starts_at=period.starts_at).first()
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


def _running(invoice: Invoice) -> Operation:
    subject = states.subject_of(invoice)
    running = Operation.objects.filter(
        subject_type=subject.kind, subject_id=subject.id, state=Operation.State.RUNNING
    ).first()
    return running or operations.begin(
        tenant_id=invoice.tenant_id,
        kind="invoice.close",
        subject=(subject.kind, subject.id, subject.name),
        generation=1,
    )


def _judge(invoice: Invoice, evidence: Evidence, by: Actor) -> None:
    try:
        found = facts.gather(invoice.tenant, Period(invoice.starts_at, invoice.ends_at))
    except facts.NoSubscription as error:
        _hold(invoice, [close_validation.Reason(error.error_code, error.message)], by)
        return
    reasons = close_validation.judge(_question(found, evidence))
    before = corrections.previous_invoice(found.tenant_id, found.period, found.month)
    # None if the previous invoice has no valid document: close the previous invoice first.
    so_far = corrections.month_after(before)
    if before is not None and so_far is None:
        reasons.append(close_validation.previous_open(before.ends_at))
    if reasons or so_far is None:  # the second test only informs mypy: None has given a reason
        _hold(invoice, reasons, by)
    else:
        _draft(invoice, _Known(replace(found, so_far=so_far), evidence, before), by)


def _question(found: Facts, evidence: Evidence) -> close_validation.Question:
    copied = _copied(found.tenant_id, found.period)
    unplanned = tuple(
        gap
        for gap in rated_period.gaps(found)
        if reading.by_space(found.tenant_id, gap.starts_at, gap.ends_at)
    )
    return close_validation.Question(
        found, evidence, copied, timedelta(seconds=settings.LANDING_SECONDS), unplanned
    )


def _copied(tenant_id: str, span: Period) -> dict[UsageKey, int]:
    figures = reading.by_address(tenant_id, span.starts_at, span.ends_at)
    return {UsageKey(f.space_id, f.address, f.meter): f.quantity for f in figures}


def _hold(invoice: Invoice, reasons: list[close_validation.Reason], by: Actor) -> None:
    message = " ".join(reason.message for reason in reasons)
    states.move(
        invoice,
        State.HELD,
        by=by,
        reason=message,
        held_reasons=[reason.as_row() for reason in reasons],
    )
    operations.fail("invoice", invoice.id, code="invoice.held", message=message)


@dataclass(frozen=True)
class _Known:
    """The inputs of a draft; ``before`` is the previous invoice of the month (None: no such)."""

    facts: Facts
    evidence: Evidence
    before: Invoice | None


def _draft(invoice: Invoice, known: _Known, by: Actor) -> None:
    evidence, read = known.evidence, rated_period.from_copy(invoice.tenant_id)
    # Leave this invoice out, so that it is not compared with itself.
    agreed = corrections.agreed(invoice.tenant_id, but=invoice.pk)
    corrected = corrections.find(known.facts, agreed, known.before, read)
    reasons = _unproved(known, corrected)
    if reasons:
        _hold(invoice, reasons, by)
        return
    found = replace(known.facts, corrections=corrected)
    rated = rated_period.rate(found, read)
    manifest = document.manifest_of(found, evidence)
    changed = invoice_quality.changed_since_issue(
        agreed, found.period.starts_at, {correction.month for correction in corrected}
    )
    note = invoice_quality.describe(evidence, found.space_names(), changed)
    made = document.build(found, rated, manifest=manifest, quality=note, as_of=evidence.as_of)
    _write_lines(invoice, made["lines"])
    states.move(
        invoice,
        State.DRAFT,
        by=by,
        reason="close validation found no problem",
        held_reasons=[],
        legal_entity=found.legal_entity,
        currency=made["currency"],
        time_zone=found.time_zone,
        net_minor=made["net_minor"],
        tax_minor=made["tax_minor"],
        total_minor=made["total_minor"],
        document=document.canonical(made),
        manifest=manifest,
        quality=note,
    )
    operations.succeed("invoice", invoice.id, up_to_generation=1)


def _unproved(
    known: _Known, corrected: tuple[facts.Correction, ...]
) -> list[close_validation.Reason]:
    """Return the reasons why the usage of a corrected month may not be billed.

    Raises:
        CorrectionNotRead: the evidence has no usage of a corrected month.
    """
    tenant_id, read = known.facts.tenant_id, {row.span: row for row in known.evidence.earlier}
    reasons: list[close_validation.Reason] = []
    for correction in corrected:
        span = corrections.span_of(correction.month, known.facts.period)
        if span not in read:
            raise CorrectionNotRead(
                f"Usage of the month of {correction.number} changed meanwhile: close again."
            )
        copied = _copied(tenant_id, span)
        reasons += close_validation.earlier_differences(read[span], copied, correction.number)
    return reasons


def _write_lines(invoice: Invoice, lines: list[dict[str, Any]]) -> None:
    invoice.lines.all().delete()  # those of an earlier draft of this invoice
    # The rows are made from the document, so that they cannot differ from it.
    InvoiceLine.objects.bulk_create(
        InvoiceLine(
            invoice=invoice,
            position=line["position"],
            meter=line["meter"],
            description=line["description"],
            quantity=line["quantity"],
            unit=line["unit"],
            unit_price=line["unit_price"],
            amount_minor=line["amount_minor"],
            detail={**line["detail"], "kind": line["kind"]},
        )
        for line in lines
    )
