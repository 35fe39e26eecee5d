"""Reads how far close runs are: counts, totals, and why invoices are held.

The number of queries does not depend on the number of invoices.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from plans.models import CloseRun, CloseRunAction, CloseRunInvoice, Invoice

_HELD = """
SELECT reason ->> 'code', count(DISTINCT i.id), min(reason ->> 'message')
FROM plans_closeruninvoice r JOIN plans_invoice i ON i.id = r.invoice_id
CROSS JOIN jsonb_array_elements(i.held_reasons) AS reason
WHERE r.run_id = %s AND i.state = 'held' GROUP BY 1 ORDER BY 2 DESC, 1
"""


@dataclass(frozen=True)
class CurrencyTotal:
    """What the drafts and later invoices of a run add up to in one currency, in minor units."""

    currency: str
    n_invoices: int
    net_minor: int
    tax_minor: int
    total_minor: int


@dataclass(frozen=True)
class HeldGroup:
    """The held invoices of a run with the reason ``code``; ``message`` is one of their messages."""

    code: str
    n_invoices: int
    message: str


@dataclass(frozen=True)
class RunReading:
    """How far a run is.

    ``n_left`` invoices are neither a draft nor held yet, ``n_without_evidence`` of them have no
    evidence. ``states`` counts the invoices of the run by their state of now. ``action`` is the
    newest approval or issue of all of them.
    """

    run: CloseRun
    n_invoices: int
    n_left: int
    n_without_evidence: int
    states: dict[str, int]
    totals: tuple[CurrencyTotal, ...]
    held: tuple[HeldGroup, ...]
    action: CloseRunAction | None

    @property
    def n_done(self) -> int:
        return self.n_invoices - self.n_left

    @property
    def percent(self) -> int:
        """How much of the run is done: evidence counts half, the draft the rest."""
        if not self.n_invoices:
            return 100 if self.run.finished_at else 0
        n_with = self.n_invoices - self.n_without_evidence
        return (n_with + self.n_done) * 50 // self.n_invoices


def read(run: CloseRun) -> RunReading:
    """Return how far ``run`` is, in five queries."""
    counts = run.invoices.aggregate(
        n_invoices=Count("id"),
        n_left=Count("id", filter=Q(done_at__isnull=True)),
        n_without_evidence=Count("id", filter=Q(done_at__isnull=True, evidence__isnull=True)),
    )
    rows = Invoice.objects.filter(close_runs__run=run)
    by_state = rows.values_list("state").annotate(n=Count("id")).order_by("state")
    # A held invoice is done as well, and may still have the amounts of an earlier draft. One
    # filter, because a second one would join the other runs of the invoice, and count each of them.
    summed = (
        Invoice.objects.filter(close_runs__run=run, close_runs__done_at__isnull=False)
        .exclude(state__in=[Invoice.State.HELD, Invoice.State.CLOSING])
        .values_list("currency")
        .annotate(Count("id"), Sum("net_minor"), Sum("tax_minor"), Sum("total_minor"))
        .order_by("currency")
    )
    with connection.cursor() as cursor:
        cursor.execute(_HELD, [run.pk])
        held = tuple(HeldGroup(*row) for row in cursor.fetchall())
    return RunReading(
        run,
        **counts,
        states=dict(by_state),
        totals=tuple(CurrencyTotal(*values) for values in summed),
        held=held,
        action=run.actions.order_by("-created_at").first(),
    )


def newest() -> QuerySet[CloseRun]:
    """Return the runs, newest first, each with ``n_invoices``, ``n_left`` and ``n_held``."""
    rows = CloseRunInvoice.objects.filter(run=OuterRef("pk")).order_by()
    return CloseRun.objects.annotate(
        n_invoices=_counted(rows),
        n_left=_counted(rows.filter(done_at__isnull=True)),
        n_held=_counted(rows.filter(invoice__state=Invoice.State.HELD)),
    ).order_by("-created_at", "-id")


def _counted(rows: QuerySet[CloseRunInvoice]) -> Coalesce:
    # A subquery, so that only the runs of the page are counted.
    return Coalesce(Subquery(rows.values("run").annotate(n=Count("id")).values("n")), 0)


def invoices(run: CloseRun, *, state: str = "", reason: str = "") -> QuerySet[Invoice]:
    """Return the invoices of a run, only those in ``state``, or held with the code ``reason``."""
    rows = Invoice.objects.filter(close_runs__run=run).select_related("tenant")
    rows = rows.defer("document", "manifest", "quality")
    if reason:
        held = rows.filter(state=Invoice.State.HELD)
        rows = held.filter(held_reasons__contains=[{"code": reason}])
    return (rows.filter(state=state) if state else rows).order_by("tenant__name", "starts_at", "id")


def skipped_since(instant: datetime) -> dict[str, dict[str, str]]:
    """Return {tenant id: why}, as {code, message}, of tenants that runs since then had to skip.

    Of several runs the newest one counts.
    """
    runs = CloseRun.objects.filter(requested_at__gte=instant).exclude(skipped=[])
    return {
        row["tenant"]: {"code": row["code"], "message": row["message"]}
        for skipped in runs.order_by("requested_at", "id").values_list("skipped", flat=True)
        for row in skipped
    }
