"""Back-tests: what past months of all tenants would have cost under a draft catalog.

``request`` stores a back-test, which a worker carries out in batches of tenants: ``batches``
gathers the months of the next tenants, ``rate`` prices them, and ``store`` writes the rows.
``summary`` and ``by_plan`` read the rows so far, so pages and API show them while the back-test
runs. A dry run calls ``batches`` and ``rate`` and stores nothing.
"""

import csv
import functools
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Missing
from plans.catalog import publishing
from plans.catalog.definitions import NotPriced
from plans.invoicing import billing_inputs, corrections, month_replay
from plans.invoicing.draft_prices import DraftPrices
from plans.invoicing.month_replay import MonthReplay
from plans.invoicing.rated_period import Reader
from plans.models import BackTest, BackTestRow, CatalogDraft, Invoice, PlanSubscription
from plans.rating.periods import Period, month_of
from tenants.models import Tenant

State = BackTest.State
BATCH = 100  # tenants
MOST_MONTHS = 24
# Takes the id of a tenant and returns the reader of its usage.
ReaderOf = Callable[[str], Reader]


class CatalogChanged(Conflict):
    """Another catalog was published while a back-test ran."""

    code = "back_test.catalog_changed"


@dataclass(frozen=True)
class TenantMonths:
    """A tenant with its ended months to rate. ``follows``: its subscription follows its plan.

    ``held`` says which price is missing; then there are no months.
    """

    tenant: Tenant
    follows: bool
    months: tuple[MonthReplay, ...]
    held: str = ""

    def windows(self) -> set[Period]:
        """Return the windows of buckets whose usage the months need."""
        return {window for month in self.months for part in month.parts
                for window in part.windows()}  # fmt: skip


@dataclass(frozen=True)
class Rated:
    """What a batch of tenants came to: unsaved rows, and by slug why tenants have none."""

    rows: list[BackTestRow]
    held: dict[str, str]


def request(
    *, draft: CatalogDraft, months: int, source: BackTest.Source, by: Actor, now: datetime
) -> BackTest:
    """Store a back-test of the last ``months`` ended months and enqueue its task.

    While the back-test runs, an equal request returns it and stores no other.
    """
    with transaction.atomic():
        # The draft's lock makes two equal requests at once share one back-test.
        CatalogDraft.objects.select_for_update().get(pk=draft.pk)
        same = BackTest.objects.filter(draft=draft, months=months, source=source)
        if running := same.filter(state=State.RUNNING).first():
            return running
        made = BackTest.objects.create(
            draft=draft,
            months=months,
            source=source,
            until=now,
            catalogue_number=_number_in_force(),
            requested_by=by.name,
            n_tenants=Tenant.objects.count(),
        )
        subject = audit.Subject("back_test", made.pk, draft.note or draft.pk)
        audit.record(by, "back_test.request", subject, after={"months": months})
        enqueue.after_commit("workers.run_back_test", back_test_id=made.pk)
    return made


def get(id: str) -> BackTest:
    """Return the back-test ``id`` with its draft.

    Raises:
        Missing: there is none.
    """
    found = BackTest.objects.select_related("draft").filter(pk=id).first()
    if found is None:
        raise Missing("There is no back-test with this id.", code="back_test.missing")
    return found


def waiting() -> list[str]:
    """Return the ids of all back-tests that are not finished, the oldest first."""
    rows = BackTest.objects.filter(state=State.RUNNING).order_by("created_at")
    return list(rows.values_list("id", flat=True))


def require_same_catalog(back_test: BackTest) -> None:
    """Raise if another catalog was published since the request.

    The changes of a draft are relative to the plans in force. After a publication, the remaining
    tenants would be compared with other plans than the tenants before them.

    Raises:
        CatalogChanged: there is a newer catalog.
    """
    if _number_in_force() != back_test.catalogue_number:
        raise CatalogChanged(
            "Another catalog was published while the back-test ran: request it again."
        )


def _number_in_force() -> int:
    newest = publishing.newest_version()
    return newest.number if newest else 0


def prices_of(document: Mapping[str, Any]) -> DraftPrices:
    """Return the prices of a draft's canonical document.

    Prices of hours are read once for each version of a plan.
    """
    return DraftPrices.of(document, functools.cache(billing_inputs.hour_price))


def batches(until: datetime, n_months: int, after: str = "") -> Iterator[list[TenantMonths]]:
    """Yield all tenants with ids above ``after``, in batches by id, with their months."""
    while tenants := list(Tenant.objects.filter(pk__gt=after).order_by("pk")[:BATCH]):
        yield _with_months(tenants, until, n_months)
        after = tenants[-1].pk


def _with_months(tenants: Sequence[Tenant], until: datetime, n_months: int) -> list[TenantMonths]:
    following = set(
        PlanSubscription.objects.filter(
            tenant__in=tenants, ends_at__isnull=True, follows=True
        ).values_list("tenant_id", flat=True)
    )
    months = {tenant.pk: ended_months(tenant, until, n_months) for tenant in tenants}
    earliest = min(found[0].starts_at for found in months.values())
    final = Invoice.valid().filter(
        tenant__in=tenants, state__in=corrections.AGREED, starts_at__gte=earliest
    )
    invoices: dict[str, list[Invoice]] = {}
    for invoice in final.order_by("starts_at"):
        invoices.setdefault(invoice.tenant_id, []).append(invoice)
    made = []
    for tenant in tenants:
        mine = invoices.get(tenant.pk, [])
        replays = (
            month_replay.of(tenant, month, [i for i in mine if month.contains(i.starts_at)])
            for month in months[tenant.pk]
        )
        found: tuple[MonthReplay, ...] = ()
        held = ""
        try:
            found = tuple(replay for replay in replays if replay is not None)
        except NotPriced as error:
            held = error.message
        made.append(TenantMonths(tenant, tenant.pk in following, found, held))
    return made


def ended_months(tenant: Tenant, until: datetime, n_months: int) -> list[Period]:
    """Return the tenant's last ``n_months`` billing months that ended by ``until``, by time."""
    found: list[Period] = []
    month = month_of(until, tenant.billing_time_zone)
    while len(found) < n_months:
        month = month_of(month.starts_at - timedelta(seconds=1), tenant.billing_time_zone)
        found.append(month)
    return found[::-1]


def rate(batch: Iterable[TenantMonths], prices: DraftPrices, reader_of: ReaderOf) -> Rated:
    """Return an unsaved row for each month of each tenant in ``batch``.

    A tenant for which a price is missing is held: it has no row at all.
    """
    rated = Rated([], {})
    for one in batch:
        held = one.held
        try:
            # Both ratings of a month read the same windows.
            read = functools.cache(reader_of(one.tenant.pk))
            rated.rows.extend([_row(one, month, prices, read) for month in one.months])
        except NotPriced as error:
            held = error.message
        if held:
            rated.held[one.tenant.slug] = held
    return rated


def _row(one: TenantMonths, month: MonthReplay, prices: DraftPrices, read: Reader) -> BackTestRow:
    present, draft = month.rate(read), month.rate(read, prices)
    return BackTestRow(
        tenant=one.tenant,
        month_starts_at=month.month.starts_at,
        month_ends_at=month.month.ends_at,
        plan=month.plan_key,
        follows=one.follows,
        currency=month.currency,
        present_net_minor=present.net_minor,
        present_total_minor=present.total_minor,
        draft_net_minor=draft.net_minor,
        draft_total_minor=draft.total_minor,
        invoiced_net_minor=month.invoiced_net_minor,
    )


def store(back_test: BackTest, batch: Sequence[TenantMonths], rated: Rated) -> None:
    """Write what a batch came to and how far the back-test is, in one transaction.

    Does nothing if another worker has stored this batch already.
    """
    with transaction.atomic():
        # Compared under the lock, because Celery may run the task twice (``acks_late``).
        current = BackTest.objects.select_for_update().get(pk=back_test.pk)
        if current.rated_up_to != back_test.rated_up_to or current.state != State.RUNNING:
            back_test.refresh_from_db()
            return
        for row in rated.rows:
            row.back_test = current
        BackTestRow.objects.bulk_create(rated.rows)
        held = [{"tenant": slug, "reason": reason} for slug, reason in rated.held.items()]
        back_test.held = [*current.held, *held]
        back_test.rated_up_to = batch[-1].tenant.pk
        back_test.n_rated += len(batch)
        back_test.save(update_fields=["rated_up_to", "n_rated", "held", "updated_at"])


def finish(back_test: BackTest, error: str = "") -> None:
    """End a running back-test: as failed if there is an ``error``, which staff read. Idempotent."""
    state = State.FAILED if error else State.SUCCEEDED
    BackTest.objects.filter(pk=back_test.pk, state=State.RUNNING).update(
        state=state, error=error, finished_at=timezone.now()
    )


@dataclass(frozen=True)
class PlanSum:
    """The months of one plan and currency, or of all plans (``plan`` ''), summed.

    Amounts are net, in minor units. ``n_less`` months cost less under the draft, ``n_more`` more.
    ``followers_minor`` is the part of the difference of tenants that follow their plan now.
    """

    plan: str
    currency: str
    n_tenants: int
    n_months: int
    n_less: int
    n_more: int
    present_minor: int
    draft_minor: int
    followers_minor: int

    @property
    def difference_minor(self) -> int:
        """How much more the draft costs; negative if it costs less."""
        return self.draft_minor - self.present_minor


_DIFFERENCE = F("draft_net_minor") - F("present_net_minor")


def by_plan(back_test: BackTest) -> list[PlanSum]:
    """Return a sum for each plan and currency, by plan."""
    return _sums(back_test, ["plan", "currency"])


def summary(back_test: BackTest) -> list[PlanSum]:
    """Return a sum over all plans for each currency."""
    return _sums(back_test, ["currency"])


def _sums(back_test: BackTest, columns: Sequence[str]) -> list[PlanSum]:
    rows = BackTestRow.objects.filter(back_test=back_test).values(*columns)
    summed = rows.annotate(
        n_tenants=Count("tenant", distinct=True),
        n_months=Count("id"),
        n_less=Count("id", filter=Q(draft_net_minor__lt=F("present_net_minor"))),
        n_more=Count("id", filter=Q(draft_net_minor__gt=F("present_net_minor"))),
        present_minor=Sum("present_net_minor"),
        draft_minor=Sum("draft_net_minor"),
        followers_minor=Sum(_DIFFERENCE, filter=Q(follows=True), default=0),
    )
    return [PlanSum(**{"plan": "", **row}) for row in summed.order_by(*columns)]


def ranked(back_test: BackTest) -> QuerySet[BackTestRow]:
    """Return the rows with ``difference_minor`` (draft minus present), the largest rise first."""
    rows = BackTestRow.objects.filter(back_test=back_test).select_related("tenant")
    return rows.annotate(difference_minor=_DIFFERENCE).order_by("-difference_minor", "pk")


# The bounds of the bars of ``distribution``, in percent of the present amount.
BOUNDS = (-50, -25, -10, -5, 0, 5, 10, 25, 50)


def distribution(back_test: BackTest) -> list[tuple[str, int]]:
    """Return (change in percent, number of months) for ranges of changes, the lowest first.

    A month that cost nothing, and would cost something, counts in the highest range.
    """
    low, high = F("present_net_minor") * (100 + BOUNDS[0]), F("present_net_minor")
    conditions = {f"under {BOUNDS[0]}": Q(draft_100__lt=low)}
    for begin, end in itertools.pairwise(BOUNDS):
        first, last = high * (100 + begin), high * (100 + end)
        # A bound belongs to the range nearer to zero, so that no range overlaps ``same``.
        if begin < 0:
            label, inside = f"{begin} to {end}", Q(draft_100__gte=first, draft_100__lt=last)
        else:
            label, inside = f"{begin} to {end}", Q(draft_100__gt=first, draft_100__lte=last)
        if begin == 0:
            conditions["same"] = Q(draft_100=first)
        conditions[label] = inside
    conditions[f"over {BOUNDS[-1]}"] = Q(draft_100__gt=high * (100 + BOUNDS[-1]))
    # Both sides times 100, and no division: a month may have cost nothing.
    rows = BackTestRow.objects.filter(back_test=back_test).annotate(
        draft_100=F("draft_net_minor") * 100
    )
    names = {f"n{n}": condition for n, condition in enumerate(conditions.values())}
    counts = rows.aggregate(**{name: Count("id", filter=q) for name, q in names.items()})
    return list(zip(conditions, counts.values(), strict=True))


_COLUMNS = (
    "tenant", "month_starts_at", "plan", "follows", "currency", "present_net_minor",
    "draft_net_minor", "difference_minor", "present_total_minor", "draft_total_minor",
    "invoiced_net_minor",
)  # fmt: skip


def months_csv(back_test: BackTest) -> str:
    """Return the rows of ``ranked`` as CSV with a header; amounts are in minor units."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for row in ranked(back_test).iterator():
        values = {name: getattr(row, name) for name in _COLUMNS}
        values |= {"tenant": row.tenant.slug, "month_starts_at": row.month_starts_at.isoformat()}
        writer.writerow(values.values())
    return file.getvalue()
