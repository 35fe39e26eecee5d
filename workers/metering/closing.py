"""The close of one invoice, from the last sample to the draft: gathers what the gate judges.

cut the running bucket -> land -> commit -> pipeline -> copy -> evidence -> ``invoicing.close``.
Every step may be repeated and killed: the invoice stays ``closing`` and the periodic pass asks
again. What cannot be gathered holds the invoice with the reason.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.core import leases, operations
from controlplane.core.audit import WORKER
from controlplane.core.errors import Unavailable, WaypostError
from plans import invoicing, metering
from plans.invoicing import Evidence, TablePin, UsageKey
from plans.models import Invoice
from plans.periods import Period
from plans.usage import UsageCell, merged
from tenants.models import AddressSpace
from workers.metering import delta, gold, ingest, landing, pipeline, quality, recompute, sampling
from workers.metering.pipeline import Report
from workers.metering.readers import Readers
from workers.metering.roots import Root
from workers.models import MeteredSource

logger = structlog.get_logger(__name__)

# Of the transforms; part of every manifest.
PIPELINE_VERSION = "1"
# So long after the request are silent instances asked again before the invoice is held. Longer than
# workers take to give metering its rights in every space (``reconcile.loop.FULL_PASS_EVERY``).
PATIENCE = timedelta(minutes=7)
_LEASE_SECONDS = 60
_WAIT_SECONDS = 20
_STEPS = ("last samples", "landing", "pipeline", "recompute", "gate")


class NotYet(Exception):
    """Something is on its way; the periodic pass asks again."""


class InstancesSilent(Unavailable):
    """The last samples of the period cannot be read."""

    code = "samples.silent"
    title = "An instance does not answer"


@dataclass(frozen=True)
class _Close:
    """One attempt: the invoice, its period, how instances are read, where the tables are."""

    invoice: Invoice
    readers: Readers
    root: Root

    @property
    def period(self) -> Period:
        return Period(self.invoice.starts_at, self.invoice.ends_at)

    def tell(self, step: str) -> None:
        """Show how far the close is on the invoice's running operation."""
        reached = _STEPS.index(step)
        states = ["done" if n < reached else "waiting" for n in range(len(_STEPS))]
        states[reached] = "running"
        operations.progress(
            "invoice",
            self.invoice.id,
            [{"name": n, "state": s, "message": ""} for n, s in zip(_STEPS, states, strict=True)],
        )


def close(invoice_id: str, readers: Readers) -> None:
    """Bring a closing invoice to draft or held. Idempotent; one attempt at a time."""
    with leases.kept(f"close:{invoice_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        invoice = Invoice.objects.get(pk=invoice_id)
        if not won or invoice.state != Invoice.State.CLOSING:
            return
        attempt = _Close(invoice, readers, ingest.lakehouse_root())
        try:
            evidence = gather(attempt)
            attempt.tell("gate")
            invoicing.close(invoice=invoice, evidence=evidence, by=WORKER)
        except NotYet as reason:
            logger.info("the close waits", invoice=invoice_id, reason=str(reason))
        except WaypostError as error:
            logger.warning("the close is held", invoice=invoice_id, code=error.error_code)
            invoicing.hold(invoice=invoice, code=error.error_code, message=error.message, by=WORKER)


def gather(attempt: _Close) -> Evidence:
    """Return the evidence of the period, at table versions that hold every sample before now.

    Raises:
        NotYet: another process is at a part of it; ask again.
        WaypostError: it cannot be gathered; the message says what to mend.
    """
    attempt.tell("last samples")
    _cut(attempt)
    attempt.tell("landing")
    as_of = timezone.now()
    expected = quality.expected_seqs(attempt.invoice.tenant_id, attempt.period)
    _land(attempt)
    attempt.tell("pipeline")
    report = _pipeline(attempt)
    attempt.tell("recompute")
    asked = _question(attempt, report)
    sample_hash, n_samples = recompute.sample_ids(asked)
    lost = quality.lost_ends(expected, recompute.last_seqs(asked))
    return Evidence(
        as_of=as_of,
        tables={n: TablePin(table.id, table.version) for n, table in report.tables.items()},
        sample_hash=sample_hash,
        n_samples=n_samples,
        gold=figures(_gold(attempt, report)),
        recomputed=recompute.totals(asked),
        sampled_spaces=recompute.sampled_spaces(asked),
        pipeline_version=PIPELINE_VERSION,
        holes=(*recompute.holes(asked), *lost),
        falls=recompute.falls(asked),
        crash_gaps=quality.crash_gaps(attempt.invoice.tenant_id, attempt.period),
    )


def figures(cells: list[UsageCell]) -> dict[UsageKey, int]:
    """Return cells summed per space, address and meter; of peaks the largest."""
    found: dict[UsageKey, int] = {}
    for cell in cells:
        key = UsageKey(cell.space_id, cell.address, cell.meter)
        found[key] = merged(cell.meter, found.get(key, 0), cell.quantity)
    return found


def _cut(attempt: _Close) -> None:
    """Take the period's last samples: after this, every source is in a later bucket."""
    spaces = _uncut(attempt)
    if not spaces:
        return
    cut = sampling.Cut(attempt.invoice.ends_at)
    rounds = sampling.sample(spaces, attempt.readers, cut=cut, patience=_WAIT_SECONDS)
    silent = {each.space_id: each.silent for each in rounds if each.silent}
    if not all(each.is_applied or each.silent for each in rounds):
        raise NotYet("another round is reading a space")
    if not silent:
        return
    if timezone.now() - attempt.invoice.updated_at < PATIENCE:
        raise NotYet(f"no answer from {silent}")
    names = ", ".join(sorted(name for found in silent.values() for name in found))
    raise InstancesSilent(
        f"{names} did not answer for {PATIENCE.seconds // 60} minutes, so the last samples of the "
        "period are not in: bring it back, then close again."
    )


def _uncut(attempt: _Close) -> list[AddressSpace]:
    """The tenant's spaces with a source whose next sample would still be in the period.

    One that is being deleted too, until its last sample has ended all its lives.
    """
    own = AddressSpace.objects.filter(
        tenant_id=attempt.invoice.tenant_id, active_since__isnull=False, deleted_at__isnull=True
    )
    begun = MeteredSource.objects.filter(bucket_at__isnull=False, space_id__in=own.values("id"))
    living = begun.filter(ended_at__isnull=True)
    inside = _spaces(living.filter(bucket_at__lt=attempt.invoice.ends_at))
    over = _spaces(begun.filter(space_id__in=own.filter(deletion_requested_at__isnull=False)))
    outside = (_spaces(living) | over) - inside
    return list(own.exclude(id__in=outside).order_by("id"))


def _spaces(sources: QuerySet[MeteredSource]) -> set[str]:
    return set(sources.values_list("space_id", flat=True))


def _land(attempt: _Close) -> None:
    ingest.ingest()
    if landing.waiting(attempt.invoice.tenant_id, attempt.invoice.ends_at):
        raise NotYet("another process commits the last samples")


def _pipeline(attempt: _Close) -> Report:
    holder = f"close:{attempt.invoice.id}"
    try:
        report = pipeline.run(attempt.root)
        pipeline.end_turn(holder)
        gold.copy_newest(attempt.root)
    except pipeline.PipelineBusy as error:
        pipeline.await_turn(holder)
        raise NotYet(error.message) from error
    except metering.CopyIsOlder as error:
        raise NotYet(error.message) from error
    return report


def _question(attempt: _Close, report: Report) -> recompute.Question:
    pin = report.tables[delta.BRONZE]
    return recompute.question(attempt.root, pin, attempt.invoice.tenant_id, attempt.period)


def _gold(attempt: _Close, report: Report) -> list[UsageCell]:
    period = attempt.period
    return gold.cells(
        attempt.root,
        report.tables[delta.USAGE],
        attempt.invoice.tenant_id,
        period.starts_at,
        period.ends_at,
    )
