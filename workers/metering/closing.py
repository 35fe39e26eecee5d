"""Close one invoice on the worker: from the period's last sample to the draft.

1. Cut the running bucket: take the last samples of the period.
2. Land the samples and commit them to bronze.
3. Run the pipeline, unless usage includes every sample already, and copy gold to the database.
4. Recompute usage from bronze, and gather the evidence.
5. ``invoice_closing.close`` validates the evidence. The invoice becomes a draft or is held.

Every step may be killed and repeated: the invoice stays ``closing``, and the periodic task
``workers.bill_due`` starts the close again. If the evidence cannot be gathered, the invoice is held
with the reason.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db.models import QuerySet

from controlplane.core import leases, operations
from controlplane.core.audit import WORKER
from controlplane.core.errors import Unavailable, WaypostError
from plans.invoicing import comparisons, draft_batch, invoice_closing
from plans.invoicing.draft_batch import EvidenceOutdated
from plans.invoicing.evidence import EarlierUsage, Evidence, TablePin
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage import recording
from tenants.models import AddressSpace
from workers.metering import delta, gold, ingest, landing, pipeline, quality, recompute, sampling
from workers.metering.pipeline import Report, Table
from workers.metering.readers import Readers
from workers.metering.roots import Root
from workers.metering.sampling import Sampled
from workers.models import MeteredSource

logger = structlog.get_logger(__name__)

# The version of the Spark transforms; every invoice manifest names it.
PIPELINE_VERSION = "1"
# For how long the close retries silent instances before it holds the invoice. It is longer than the
# time between two full passes (``reconcile.loop.FULL_PASS_EVERY``), because on Kubernetes a full
# pass gives metering its rights in a space.
PATIENCE = timedelta(minutes=7)
_LEASE_SECONDS = 60  # extended while the close runs, for 15 minutes at most (``leases.kept``)
WAIT_SECONDS = 20  # for a sampling cycle that reads the same space now
# The names of the steps that the invoice's operation shows.
_STEPS = ("last samples", "landing", "pipeline", "recompute", "validation")


class NotYet(Exception):
    """Another process, or a silent instance, delays the evidence of a close.

    The invoice stays ``closing``, and the close is tried again soon.
    """


class InstancesSilent(Unavailable):
    """An instance has not answered for so long that ``close`` holds the invoice."""

    code = "samples.silent"
    title = "An instance does not answer"


class SamplesNotStored(Unavailable):
    """Samples could not be stored for so long that ``close`` holds the invoice."""

    code = "samples.not_stored"
    title = "Samples cannot be stored"


@dataclass(frozen=True)
class CloseAttempt:
    """One attempt to close ``invoice``. ``cut`` and ``land`` are its first two steps.

    ``readers`` read the instances; ``root`` is that of the lakehouse.
    """

    invoice: Invoice
    readers: Readers
    root: Root

    @property
    def period(self) -> Period:
        return Period(self.invoice.starts_at, self.invoice.ends_at)

    def report(self, step: str) -> None:
        """Report ``step`` as running in the invoice's operation, and those before it as done."""
        reached = _STEPS.index(step)
        states = ["done" if n < reached else "waiting" for n in range(len(_STEPS))]
        states[reached] = "running"
        operations.progress(
            "invoice",
            self.invoice.id,
            [{"name": n, "state": s, "message": ""} for n, s in zip(_STEPS, states, strict=True)],
        )

    def cut(self) -> None:
        """Take the period's last samples. Afterwards every source is in a later bucket.

        Leaves out spaces whose sources are in a later bucket already. Idempotent.

        Raises:
            NotYet: an instance is silent, samples could not be stored, or another cycle is reading
                a space.
            InstancesSilent, SamplesNotStored: the same, and the close has lasted ``PATIENCE`` or
                longer.
        """
        spaces = list_uncut([self.invoice.tenant_id], self.invoice.ends_at)
        if not spaces:
            return
        cut = sampling.Cut(self.invoice.ends_at)
        results = sampling.sample(spaces, self.readers, cut=cut, patience=WAIT_SECONDS)
        require_complete(results, self.readers.clock() - self.invoice.updated_at)

    def land(self) -> None:
        """Land and commit all waiting samples, so that bronze has every sample of the period.

        Raises:
            NotYet: another process is committing some of them.
        """
        ingest.ingest()
        if landing.waiting(self.invoice.tenant_id, self.invoice.ends_at):
            raise NotYet("another process is committing the last samples")


def list_uncut(tenant_ids: Collection[str], ends_at: datetime) -> list[AddressSpace]:
    """Return the tenants' spaces with a source that is still in a bucket before ``ends_at``.

    Includes spaces that were never sampled. A space that is being deleted is left out once its
    last sample has ended all incarnations. Spaces that were never Active are left out.
    """
    own = AddressSpace.objects.filter(
        tenant_id__in=tenant_ids, active_since__isnull=False, deleted_at__isnull=True
    )
    # ``bucket_at`` is null until the first sample.
    begun = MeteredSource.objects.filter(bucket_at__isnull=False, space_id__in=own.values("id"))
    living = begun.filter(ended_at__isnull=True)
    inside = _space_ids(living.filter(bucket_at__lt=ends_at))
    deleting = own.filter(deletion_requested_at__isnull=False)
    over = _space_ids(begun.filter(space_id__in=deleting))
    outside = (_space_ids(living) | over) - inside
    return list(own.exclude(id__in=outside).order_by("id"))


def require_complete(results: Sequence[Sampled], waited: timedelta) -> None:
    """Raise unless the last samples of a period were taken in all spaces of ``results``.

    ``waited`` is for how long the close has waited for them.

    Raises:
        NotYet: an instance is silent, samples could not be stored, or another cycle is reading
            a space.
        InstancesSilent, SamplesNotStored: the same, and ``waited`` is ``PATIENCE`` or longer.
    """
    silent = {sampled.space_id: sampled.silent for sampled in results if sampled.silent}
    failed = {sampled.space_id: sampled.failed for sampled in results if sampled.failed}
    if not all(sampled.is_applied or sampled.silent or sampled.failed for sampled in results):
        raise NotYet("another sampling cycle is reading a space")
    if not (silent or failed):
        return
    if waited < PATIENCE:
        raise NotYet(f"no answer from {silent}; not stored: {failed}")
    if failed:
        reasons = "; ".join(f"{space}: {reason}" for space, reason in sorted(failed.items()))
        raise SamplesNotStored(
            f"For {PATIENCE.seconds // 60} minutes samples could not be stored, so the last "
            f"ones of the period are missing ({reasons}). Look at the log of the metering "
            "worker, then close the invoice again."
        )
    names = ", ".join(sorted(name for found in silent.values() for name in found))
    raise InstancesSilent(
        f"{names} did not answer for {PATIENCE.seconds // 60} minutes, so the last samples of "
        "the period are missing. Bring the instances back, then close the invoice again."
    )


def compute_usage(root: Root, holder: str) -> Report:
    """Run the pipeline unless it has nothing to do, and copy gold; return its report.

    ``holder`` names the close, for which the next run is reserved if another process runs it.

    Raises:
        NotYet: another process runs the pipeline, or has copied a newer version of gold.
        PipelineFailed: the job failed or took too long.
    """
    try:
        report = gold.report_without_run(root) or pipeline.run(root)
        pipeline.end_turn(holder)
        gold.copy_newest(root)
    except pipeline.PipelineBusy as error:
        # Reserve the next run: otherwise the periodic task could start the job before each
        # retry of the close.
        pipeline.await_turn(holder)
        raise NotYet(error.message) from error
    except recording.CopyIsOlder as error:
        raise NotYet(error.message) from error
    return report


def close(invoice_id: str, readers: Readers) -> None:
    """Try to close one invoice whose close was requested: it becomes a draft, or it is held.

    The invoice is held if its evidence is not valid or cannot be gathered. It stays ``closing`` if
    a part of the evidence is not there yet (``NotYet``). Nothing happens if the invoice is not
    ``closing``, or if another process closes it (lease). Idempotent.
    """
    with leases.kept(f"close:{invoice_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        # Read under the lease: another process may have closed it just before.
        invoice = Invoice.objects.get(pk=invoice_id)
        if not won or invoice.state != Invoice.State.CLOSING:
            return
        attempt = CloseAttempt(invoice, readers, ingest.lakehouse_root())
        try:
            evidence = gather(attempt)
            attempt.report("validation")
            invoice_closing.close(invoice=invoice, evidence=evidence, by=WORKER)
        except (NotYet, EvidenceOutdated) as reason:
            logger.info("the close of an invoice waits", invoice=invoice_id, reason=str(reason))
        except WaypostError as error:
            logger.warning("an invoice is held", invoice=invoice_id, code=error.error_code)
            invoice_closing.hold(
                invoice=invoice, code=error.error_code, message=error.message, by=WORKER
            )


def gather(attempt: CloseAttempt) -> Evidence:
    """Take the last samples, compute usage, and return the evidence of the period.

    The table versions in the evidence contain every sample that was taken before ``as_of``.

    Raises:
        NotYet: an instance is silent, or another process works on a part of the evidence; call
            again.
        WaypostError: the evidence cannot be gathered; the message says what to fix.
    """
    attempt.report("last samples")
    attempt.cut()
    attempt.report("landing")
    as_of = attempt.readers.clock()
    # Read before landing: every sample that has a ``seq`` by now must be in bronze afterwards.
    expected = quality.expected_seqs(attempt.invoice.tenant_id, attempt.period)
    attempt.land()
    attempt.report("pipeline")
    report = compute_usage(attempt.root, f"close:{attempt.invoice.id}")
    attempt.report("recompute")
    spans = draft_batch.corrected_spans([attempt.invoice])[attempt.invoice.id]
    read = [earlier(attempt, report, span) for span in spans]
    return examined(attempt.root, report, attempt.invoice, as_of, expected, read)


def examined(
    root: Root,
    report: Report,
    invoice: Invoice,
    as_of: datetime,
    expected: Mapping[quality.Incarnation, int],
    earlier: Sequence[EarlierUsage],
) -> Evidence:
    """Return the evidence of one invoice, from all samples of its tenant.

    ``expected`` is what ``quality.expected_seqs`` returned before the landing; ``earlier`` is the
    usage of the months to correct.
    """
    tenant_id, period = invoice.tenant_id, Period(invoice.starts_at, invoice.ends_at)
    bronze, usage = report.tables[delta.BRONZE], report.tables[delta.USAGE]
    question = recompute.question(root, bronze, tenant_id, period)
    cells = gold.cells(root, usage, tenant_id, period.starts_at, period.ends_at)
    samples = recompute.samples(question)
    lost = quality.lost_ends(expected, recompute.last_seqs(question))
    return Evidence(
        as_of=as_of,
        tables={n: TablePin(table.id, table.version) for n, table in report.tables.items()},
        sample_hash=samples.hash,
        n_samples=samples.n_samples,
        hash_version=samples.hash_version,
        doubled_samples=samples.doubled,
        gold=comparisons.figures(cells),
        recomputed=recompute.totals(question),
        sampled_spaces=recompute.sampled_spaces(question),
        pipeline_version=PIPELINE_VERSION,
        gaps=(*recompute.gaps(question), *lost),
        counter_resets=recompute.counter_resets(question),
        crash_gaps=quality.crash_gaps(tenant_id, period),
        earlier=tuple(earlier),
    )


def earlier(attempt: CloseAttempt, report: Report, span: Period) -> EarlierUsage:
    """Return the tenant's usage of ``span`` from gold and bronze, at the versions in ``report``."""
    tenant_id = attempt.invoice.tenant_id
    bronze, usage = report.tables[delta.BRONZE], report.tables[delta.USAGE]
    return read_span(attempt.root, (bronze, usage), tenant_id, span)


def read_span(root: Root, pins: tuple[Table, Table], tenant_id: str, span: Period) -> EarlierUsage:
    """Return the tenant's usage of ``span`` from gold and from bronze; ``pins`` = (bronze, gold).

    Raises:
        TableReplaced: a pinned table does not exist any more.
    """
    cells = gold.cells(root, pins[1], tenant_id, span.starts_at, span.ends_at)
    question = recompute.question(root, pins[0], tenant_id, span)
    return EarlierUsage(span, comparisons.figures(cells), recompute.totals(question))


def _space_ids(sources: QuerySet[MeteredSource]) -> set[str]:
    return set(sources.values_list("space_id", flat=True))
