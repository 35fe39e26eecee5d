"""Carry out a close run on the worker: many periods, from their last samples to drafts.

1. Request: bring the invoices of all due periods into the run.
2. Last samples: cut the running bucket of every space that is still in a period.
3. Landing: write the samples and commit them to bronze.
4. Pipeline: run it once, unless usage includes every sample already, and copy gold.
5. Recomputation: of all tenants of a period together (``batch_recompute``). Store the evidence.
6. Rating: validate and price hundreds of invoices in one transaction.

Each step reads from the rows what is left to do, so ``advance`` may be killed anywhere and called
again. A problem of one tenant, such as a silent instance, delays or holds the invoice of this
tenant only. The periodic task ``workers.bill_due`` goes on with unfinished runs.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, transaction

from controlplane.core import leases, row_updates
from controlplane.core.audit import WORKER
from controlplane.core.errors import Unavailable, WaypostError
from plans.invoicing import close_runs, draft_batch, invoice_closing, stored_evidence
from plans.invoicing.close_validation import Reason
from plans.invoicing.evidence import CrashGap, EarlierUsage, Evidence, TablePin
from plans.models import CloseRun, CloseRunInvoice, Invoice
from plans.rating.periods import Period
from workers.metering import (
    batch_recompute,
    closing,
    delta,
    ingest,
    landing,
    quality,
    sampling,
)
from workers.metering.batch_recompute import PeriodUsage
from workers.metering.closing import NotYet
from workers.metering.pipeline import Report
from workers.metering.readers import Readers
from workers.metering.roots import Root

logger = structlog.get_logger(__name__)

Step = CloseRun.Step
# After an error of the lakehouse, which concerns all tenants, the run waits this long.
RETRY_AFTER = timedelta(minutes=1)
_LEASE_SECONDS = 60  # extended while a worker carries the run out, for 15 minutes at most
_EVIDENCE_AT_ONCE = 2000  # invoices whose evidence is gathered together
_Key = TypeVar("_Key", datetime, Period)
# The evidence of an invoice; or why it cannot be gathered, for which the invoice is held.
Gathered = Evidence | Reason


def advance(run_id: str, readers: Readers) -> None:
    """Carry out what is left of the run, as far as it goes now.

    Nothing happens if the run has ended, if another worker has its lease, or if it waits after an
    error. An error that concerns all tenants is noted in the run, and tried again later.
    """
    with leases.kept(f"close-run:{run_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        run = CloseRun.objects.get(pk=run_id)
        is_waiting = run.retry_at is not None and readers.clock() < run.retry_at
        if not won or run.finished_at is not None or is_waiting:
            return
        attempt = RunAttempt(run, readers, ingest.lakehouse_root())
        try:
            attempt.carry_out()
        except NotYet as reason:
            attempt.report(message=str(reason))
        except WaypostError as error:
            logger.warning("a close run waits", run=run_id, code=error.error_code)
            retry_at = readers.clock() + RETRY_AFTER
            attempt.report(message=error.message, retry_at=retry_at)
        except (OperationalError, InterfaceError):
            raise  # without the database nothing can be noted
        except Exception:
            # Such as a damaged file. At once it would fail again, after all the work before it.
            logger.exception("a close run failed", run=run_id)
            text = "It failed; the worker's log has the reason. It is tried again every minute."
            attempt.report(message=text, retry_at=readers.clock() + RETRY_AFTER)


@dataclass(frozen=True)
class RunAttempt:
    """One attempt to carry out ``run``; its methods are the steps."""

    run: CloseRun
    readers: Readers
    root: Root

    def carry_out(self) -> None:
        """Take all steps that are left.

        Raises:
            NotYet: a part of the evidence is missing; the others went on.
            WaypostError: the lakehouse fails.
        """
        if self.run.requested_at is None:
            self.report(Step.REQUEST)
            close_runs.request_invoices(self.run, now=self.readers.clock())
        close_runs.settle(self.run, now=self.readers.clock())
        try:
            waits = self.gather()
        except Exception:
            self.rate()  # the others do not wait for what failed
            raise
        self.rate()
        if not close_runs.settle(self.run, now=self.readers.clock()):
            raise NotYet(waits or "usage was copied meanwhile; the evidence is gathered again")

    def report(
        self, step: Step | None = None, *, message: str = "", retry_at: datetime | None = None
    ) -> None:
        """Store the step that runs now (None: the same), and what the run waits for."""
        changes = {"message": message, "retry_at": retry_at, "updated_at": self.readers.clock()}
        if step is not None:
            changes["step"] = step.value
        # Not the whole row: a stale copy of it would overwrite what another process stored.
        CloseRun.objects.filter(pk=self.run.pk, finished_at__isnull=True).update(**changes)

    def gather(self) -> str:
        """Store the evidence of the invoices that have none; return what delays the others."""
        rows = list(
            close_runs.left(self.run)
            .filter(evidence__isnull=True)
            .select_related("invoice__tenant")
            .defer("invoice__document", "invoice__manifest", "invoice__quality")
            .order_by("invoice_id")
        )
        if not rows:
            return ""
        self.report(Step.SAMPLES)
        delayed = self.cut([row.invoice for row in rows])
        ready = [row for row in rows if row.invoice_id not in delayed]
        if ready:
            delayed |= self._gather(ready)
        return "; ".join(sorted(set(delayed.values()))[:5])

    def cut(self, invoices: Sequence[Invoice]) -> dict[str, str]:
        """Take the last samples of all periods; return why some have none yet, by invoice.

        Holds the invoices whose samples have been missing for ``closing.PATIENCE``.
        """
        delayed: dict[str, str] = {}
        for ends_at, mine in _grouped(invoices, lambda row: row.ends_at):
            by_tenant = {row.tenant_id: row for row in mine}
            spaces = closing.list_uncut(list(by_tenant), ends_at)
            if not spaces:
                continue
            owners = {space.id: by_tenant[space.tenant_id] for space in spaces}
            cut = sampling.Cut(ends_at)
            results = sampling.sample(spaces, self.readers, cut=cut, patience=closing.WAIT_SECONDS)
            missing: dict[str, list[sampling.Sampled]] = {}
            for sampled in results:
                if sampled.silent or sampled.failed or not sampled.is_applied:
                    missing.setdefault(owners[sampled.space_id].id, []).append(sampled)
            delayed |= self._delayed({row.id: row for row in mine}, missing)
        return delayed

    def _delayed(
        self, invoices: Mapping[str, Invoice], missing: Mapping[str, list[sampling.Sampled]]
    ) -> dict[str, str]:
        delayed, held = dict[str, str](), dict[str, Reason]()
        for id, results in missing.items():
            try:
                closing.require_complete(results, self.readers.clock() - invoices[id].updated_at)
            except NotYet as reason:
                delayed[id] = str(reason)
            except WaypostError as error:
                held[id] = Reason(error.error_code, error.message)
                delayed[id] = error.message
        if held:
            invoice_closing.hold_each(reasons=held, by=WORKER)
        return delayed

    def _gather(self, rows: Sequence[CloseRunInvoice]) -> dict[str, str]:
        """Gather and store the evidence of ``rows``; return why some have to wait, by invoice."""
        self.report(Step.LANDING)
        as_of = self.readers.clock()
        invoices = [row.invoice for row in rows]
        groups = list(_grouped(invoices, lambda row: Period(row.starts_at, row.ends_at)))
        # Read before landing: every sample that has a ``seq`` by now must be in bronze afterwards.
        expected = {
            period: quality.expected_seqs_each([row.tenant_id for row in mine], period)
            for period, mine in groups
        }
        ingest.ingest()
        delayed: dict[str, str] = {}
        for period, mine in groups:
            waiting = landing.waiting_each(period.ends_at)
            late = (row for row in mine if waiting[row.tenant_id])
            delayed |= {row.id: "another process is committing the last samples" for row in late}
        self.report(Step.PIPELINE)
        report = closing.compute_usage(self.root, f"close-run:{self.run.id}")
        self.report(Step.RECOMPUTATION)
        own = {row.invoice_id: row for row in rows}
        for period, mine in groups:
            ready = [row for row in mine if row.id not in delayed]
            gathering = Gathering(self.root, report, period, as_of, expected[period])
            for first in range(0, len(ready), _EVIDENCE_AT_ONCE):
                chunk = ready[first : first + _EVIDENCE_AT_ONCE]
                self._store(gathering.evidence(chunk), own)
        return delayed

    def _store(self, found: Mapping[str, Gathered], rows: Mapping[str, CloseRunInvoice]) -> None:
        """Store the evidence that was gathered, and hold the invoices without any."""
        held = {id: result for id, result in found.items() if isinstance(result, Reason)}
        if held:
            invoice_closing.hold_each(reasons=held, by=WORKER)
        proved = {id: result for id, result in found.items() if isinstance(result, Evidence)}
        for invoice_id, evidence in proved.items():
            rows[invoice_id].evidence = stored_evidence.plain(evidence)
        row_updates.save([rows[id] for id in proved], ["evidence"])

    def rate(self) -> None:
        """Make a draft of each invoice that has evidence, or hold it; oldest periods first.

        If usage that an invoice bills changed since, its evidence is dropped, to be gathered again.
        """
        spans = close_runs.left(self.run).filter(evidence__isnull=False)
        periods = spans.values_list("invoice__starts_at", "invoice__ends_at").distinct()
        for starts_at, ends_at in sorted(periods):
            self.report(Step.RATING)
            mine = spans.filter(invoice__starts_at=starts_at, invoice__ends_at=ends_at)
            ids = list(mine.order_by("invoice_id").values_list("id", flat=True))
            for first in range(0, len(ids), close_runs.AT_ONCE):
                self._rate(ids[first : first + close_runs.AT_ONCE])

    def _rate(self, ids: Sequence[int]) -> None:
        rows = {row.invoice_id: row for row in CloseRunInvoice.objects.filter(pk__in=ids)}
        evidence = {
            id: stored_evidence.loaded(row.evidence)
            for id, row in rows.items()
            if row.evidence is not None  # another worker may have dropped it
        }
        # Together, so that a kill leaves no draft that the run does not count as done.
        with transaction.atomic():
            outdated = invoice_closing.close_each(evidence=evidence, by=WORKER)
            again = [rows[id].pk for id in outdated]
            CloseRunInvoice.objects.filter(pk__in=again).update(evidence=None)
            closed = [rows[id].pk for id in evidence]
            done = CloseRunInvoice.objects.filter(pk__in=closed).exclude(pk__in=again)
            done.update(done_at=self.readers.clock())


@dataclass(frozen=True)
class Gathering:
    """Gathers the evidence of invoices of one period, from what one run of the pipeline made.

    ``expected`` is what ``quality.expected_seqs_each`` returned before the landing.
    """

    root: Root
    report: Report
    period: Period
    as_of: datetime
    expected: Mapping[str, Mapping[quality.Incarnation, int]]

    def evidence(self, invoices: Sequence[Invoice]) -> dict[str, Gathered]:
        """Return the evidence of each invoice, by its id. Each is of another tenant.

        Raises:
            StoreAway, StoreRefuses, BucketMissing: the object store fails, which concerns all.
        """
        ids = [row.tenant_id for row in invoices]
        usage = batch_recompute.read(self.root, self.report.tables, self.period, ids)
        crashes = quality.crash_gaps_each(ids, self.period)
        spans = draft_batch.corrected_spans(invoices)
        found = dict[str, Gathered]()
        for row in invoices:
            mine, gaps = usage.get(row.tenant_id), crashes.get(row.tenant_id, ())
            try:
                found[row.id] = self._of_one(row, mine, gaps, spans[row.id])
            except (Unavailable, DatabaseError):
                raise
            except WaypostError as error:
                logger.warning("an invoice is held", invoice=row.id, code=error.error_code)
                found[row.id] = Reason(error.error_code, error.message)
            except Exception:
                # Such as a damaged file. Tried again it would fail again, and keep all others.
                logger.exception("evidence cannot be gathered", invoice=row.id)
                found[row.id] = draft_batch.failed()
        return found

    def _of_one(
        self,
        invoice: Invoice,
        usage: PeriodUsage | None,
        crash_gaps: Sequence[CrashGap],
        spans: Sequence[Period],
    ) -> Evidence:
        expected = self.expected.get(invoice.tenant_id, {})
        earlier = [self._earlier(invoice, span) for span in spans]
        if usage is None or self._is_doubtful(usage, expected):
            # Its details decide whether it is held, and with which reasons.
            return closing.examined(self.root, self.report, invoice, self.as_of, expected, earlier)
        return Evidence(
            as_of=self.as_of,
            tables={n: TablePin(t.id, t.version) for n, t in self.report.tables.items()},
            sample_hash=usage.samples.hash,
            n_samples=usage.samples.n_samples,
            hash_version=usage.samples.hash_version,
            gold=usage.gold,
            recomputed=usage.recomputed,
            sampled_spaces=usage.sampled_spaces,
            pipeline_version=closing.PIPELINE_VERSION,
            crash_gaps=tuple(crash_gaps),
            earlier=tuple(earlier),
        )

    def _is_doubtful(self, usage: PeriodUsage, expected: Mapping[quality.Incarnation, int]) -> bool:
        is_lost = any(usage.last_seqs.get(key, 0) < seq for key, seq in expected.items())
        return usage.is_doubtful or is_lost or dict(usage.gold) != dict(usage.recomputed)

    def _earlier(self, invoice: Invoice, span: Period) -> EarlierUsage:
        pins = self.report.tables[delta.BRONZE], self.report.tables[delta.USAGE]
        return closing.read_span(self.root, pins, invoice.tenant_id, span)


def _grouped(
    invoices: Sequence[Invoice], key: Callable[[Invoice], _Key]
) -> Iterator[tuple[_Key, list[Invoice]]]:
    """Yield the invoices of each key, in order of the keys."""
    for found, mine in groupby(sorted(invoices, key=key), key=key):
        yield found, list(mine)
