"""Validates and prices the invoices of many tenants for one period.

The number of queries does not grow with the number of invoices, only with that of plan versions.

``invoice_closing`` passes the evidence of one invoice or of hundreds, and gets an ``Outcome`` for
each of them. An error about one tenant affects only the outcome of its invoice. Writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError

from controlplane.core.errors import Conflict, WaypostError
from plans.invoicing import (
    close_validation,
    corrections,
    document,
    facts,
    invoice_quality,
    rated_period,
    read_once,
    releases,
)
from plans.invoicing.close_validation import Differences, Reason
from plans.invoicing.document import Document
from plans.invoicing.evidence import Evidence, TablePin, UsageKey
from plans.invoicing.facts import Correction, Facts, TenantRows
from plans.invoicing.rated_period import Reader
from plans.invoicing.releases import Release
from plans.models import Invoice, UsageCopy
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.usage import batch_reading
from plans.usage.batch_reading import Window
from plans.usage.reading import Figure

logger = structlog.get_logger(__name__)

GOLD = "gold.usage"  # the table that PostgreSQL copies


class EvidenceOutdated(Conflict):
    """Usage changed since the evidence was gathered: gather it again."""

    code = "invoice.evidence_outdated"


class CorrectionNotRead(EvidenceOutdated):
    """The usage of an earlier month changed while the evidence was gathered: gather it again."""

    code = "invoice.correction_not_read"


@dataclass(frozen=True)
class Draft:
    """What a draft stores of an invoice: its document and columns of its row."""

    made: Document
    columns: Mapping[str, Any]

    @classmethod
    def of(cls, made: Document, legal_entity: str) -> "Draft":
        """Return the draft of the document ``made``; ``legal_entity`` is the key of its seller."""
        copied = ("currency", "net_minor", "tax_minor", "total_minor", "manifest", "quality")
        columns = {
            **{name: made[name] for name in copied},
            "legal_entity": legal_entity,
            "time_zone": made["period"]["time_zone"],
            "document": document.canonical(made),
        }
        return cls(made, columns)


# A draft; or the reasons to hold the invoice; or why its evidence must be gathered again.
Outcome = Draft | list[Reason] | EvidenceOutdated


def failed() -> Reason:
    """Return the reason to hold an invoice after an unexpected error."""
    text = "It cannot be made; the worker's log has the reason. Then close it again."
    return Reason("invoice.close_failed", text)


@dataclass(frozen=True)
class Known:
    """What the rows say about one invoice.

    ``before`` is the previous invoice of the month (None: no such). ``so_far`` is the state of the
    month after ``before``; None if ``before`` must be closed first. ``agreed`` are the newest
    approved and issued invoices; ``candidates`` are the possible corrections of their months.
    """

    invoice: Invoice
    facts: Facts
    before: Invoice | None
    so_far: MonthSoFar | None
    agreed: list[tuple[Invoice, Document]]
    candidates: tuple[Correction, ...]

    def windows(self) -> Iterable[Window]:
        """Yield every window whose usage by space the close may read."""
        found = self.facts
        counted = (s.counted for row in self.candidates for s in row.before.segments if s.counted)
        issued = (Period(row.starts_at, row.ends_at) for row, _ in self.agreed)
        for span in chain(rated_period.windows(found), rated_period.gaps(found), counted, issued):
            yield self.window(span)

    def window(self, span: Period) -> Window:
        return Window(self.facts.tenant_id, span.starts_at, span.ends_at)


@dataclass
class Batch:
    """Invoices of different tenants for one period, with what the database says about them.

    ``refused`` has the invoices that cannot be priced at all, and why. Outside a transaction that
    keeps the copy of usage still (``reading.keep_still``), the usage may change meanwhile.
    """

    period: Period
    known: dict[str, Known] = field(default_factory=dict)  # by the invoice's id
    refused: dict[str, list[Reason]] = field(default_factory=dict)
    _spaces: dict[Window, list[Figure]] = field(default_factory=dict)
    _addresses: dict[Window, list[Figure]] = field(default_factory=dict)

    @classmethod
    def read(cls, invoices: Sequence[Invoice]) -> "Batch":
        """Read all that the closes of ``invoices`` depend on, except addresses and evidence.

        All invoices are of the same period, and each of another tenant.
        """
        (period,) = {Period(row.starts_at, row.ends_at) for row in invoices}
        found = cls(period)
        rows = TenantRows.read_each([row.tenant for row in invoices], period)
        gathered: list[tuple[Invoice, Facts]] = []
        for invoice in invoices:
            try:
                mine = facts.gather(invoice.tenant, period, rows=rows[invoice.tenant_id])
                gathered.append((invoice, mine))
            except WaypostError as error:
                found.refused[invoice.id] = [Reason(error.error_code, error.message)]
        months = {fact.tenant_id: fact.month for _, fact in gathered}
        before = corrections.previous_invoices(period, months)
        agreed = corrections.agreed_each(list(months), but=[row.id for row in invoices])
        for invoice, fact in gathered:
            found._add(invoice, fact, before.get(fact.tenant_id), agreed[fact.tenant_id])
        windows = [window for row in found.known.values() for window in row.windows()]
        found._spaces = batch_reading.by_space(windows)
        return found

    def _add(
        self,
        invoice: Invoice,
        fact: Facts,
        before: Invoice | None,
        agreed: list[tuple[Invoice, Document]],
    ) -> None:
        # None if the previous invoice has no valid document: close the previous invoice first.
        so_far = corrections.month_after(before)
        candidates: tuple[Correction, ...] = ()
        if so_far is not None:
            fact = replace(fact, so_far=so_far)
            candidates = corrections.candidates(fact, agreed, before)
        self.known[invoice.id] = Known(invoice, fact, before, so_far, agreed, candidates)

    def corrected(self, known: Known) -> tuple[Correction, ...]:
        """Return the corrections of months whose usage has changed, oldest month first."""
        return corrections.changed(known.candidates, self._reader(known))

    def corrected_spans(self, invoice_id: str) -> list[Period]:
        """Return the span of each month that the invoice would correct now."""
        known = self.known.get(invoice_id)
        if known is None:
            return []
        return [corrections.span_of(row.month, self.period) for row in self.corrected(known)]

    def outcomes(self, evidence: Mapping[str, Evidence]) -> dict[str, Outcome]:
        """Return the outcome of each invoice, from its evidence, by the invoice's id."""
        self._read_addresses()
        newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
        pin = TablePin(newest.table_id, newest.table_version) if newest else None
        found: dict[str, Outcome] = dict(self.refused)
        for id, known in self.known.items():
            found[id] = self._outcome(known, evidence[id], pin)
        return found

    def _read_addresses(self) -> None:
        """Read the usage by address of the period and of each month to correct."""
        windows = []
        for known in self.known.values():
            windows.append(known.window(self.period))
            windows += [known.window(span) for span in self.corrected_spans(known.invoice.id)]
        self._addresses = batch_reading.by_address(windows)

    def _outcome(self, known: Known, evidence: Evidence, copied: TablePin | None) -> Outcome:
        try:
            return self._judged(known, evidence, copied)
        except EvidenceOutdated as error:
            return error
        except WaypostError as error:
            return [Reason(error.error_code, error.message)]
        except DatabaseError:
            raise  # it has ended the transaction, and with it the whole batch
        except Exception:
            # Tried again it would fail again, and keep all other invoices of the batch waiting.
            logger.exception("an invoice cannot be made", invoice=known.invoice.id)
            return [failed()]

    def _judged(self, known: Known, evidence: Evidence, copied: TablePin | None) -> Outcome:
        question = self._question(known, evidence)
        # Gold was copied again since the evidence was gathered: no reason to hold the invoice. If
        # the usage of its period is the same, the evidence still proves it.
        pin = evidence.tables.get(GOLD)
        if pin not in (None, copied) and Differences.between(question.copied, evidence.gold):
            raise EvidenceOutdated("Usage of the period was copied since: close again.")
        found = close_validation.judge(question)
        reasons, released = releases.split(found, known.invoice.releases)
        if known.so_far is None:
            assert known.before is not None  # without one, the month begins
            reasons.append(close_validation.previous_open(known.before.ends_at))
        if reasons:
            return reasons
        corrected = self.corrected(known)
        return self._unproved(known, evidence, corrected) or self._draft(
            known, evidence, corrected, released
        )

    def _question(self, known: Known, evidence: Evidence) -> close_validation.Question:
        gaps = rated_period.gaps(known.facts)
        return close_validation.Question(
            known.facts,
            evidence,
            self._copied(known, self.period),
            timedelta(seconds=settings.LANDING_SECONDS),
            tuple(gap for gap in gaps if self._spaces[known.window(gap)]),
        )

    def _copied(self, known: Known, span: Period) -> dict[UsageKey, int]:
        figures = self._addresses[known.window(span)]
        return {UsageKey(f.space_id, f.address, f.meter): f.quantity for f in figures}

    def _reader(self, known: Known) -> Reader:
        return lambda span: self._spaces[known.window(span)]

    def _unproved(
        self, known: Known, evidence: Evidence, corrected: tuple[Correction, ...]
    ) -> list[Reason]:
        """Return the reasons why the usage of a corrected month may not be billed.

        Raises:
            CorrectionNotRead: the evidence has no usage of a corrected month.
        """
        read = {row.span: row for row in evidence.earlier}
        reasons: list[Reason] = []
        for correction in corrected:
            span = corrections.span_of(correction.month, self.period)
            if span not in read:
                raise CorrectionNotRead(
                    f"Usage of the month of {correction.number} changed meanwhile: close again."
                )
            copied = self._copied(known, span)
            reasons += close_validation.earlier_differences(read[span], copied, correction.number)
        return reasons

    def _draft(
        self,
        known: Known,
        evidence: Evidence,
        corrected: tuple[Correction, ...],
        released: Sequence[Release],
    ) -> Draft:
        found = replace(known.facts, corrections=corrected)
        rated = rated_period.rate(found, self._reader(known))
        manifest = {**document.manifest_of(found, evidence), **releases.plain(released)}
        changed = invoice_quality.changed_since_issue(
            known.agreed,
            self.period.starts_at,
            {correction.month for correction in corrected},
            self._reader(known),
        )
        note = invoice_quality.describe(evidence, found.space_names(), changed, released)
        made = document.build(found, rated, manifest=manifest, quality=note, as_of=evidence.as_of)
        return Draft.of(made, found.legal_entity)


def outcomes(invoices: Sequence[Invoice], evidence: Mapping[str, Evidence]) -> dict[str, Outcome]:
    """Return the outcome of each of ``invoices``, by its id; the period of all is the same.

    ``evidence`` is by the invoice's id. Call it in a transaction that keeps usage still.
    """
    with read_once.kept():
        return Batch.read(invoices).outcomes(evidence)


def corrected_spans(invoices: Sequence[Invoice]) -> dict[str, list[Period]]:
    """Return {invoice id: spans of the months that a close of the invoice would correct now}.

    The evidence must have the usage of these spans. No spans for an invoice that cannot be priced.
    """
    with read_once.kept():
        batch = Batch.read(invoices)
        return {row.id: batch.corrected_spans(row.id) for row in invoices}
