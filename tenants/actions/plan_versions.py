"""Move subscriptions that follow their plan to its new versions; others keep their version.

A tenant chooses with ``choose``. When staff publish or schedule a catalog, a worker writes an event
to each tenant on a changed plan (``announce``), in batches. ``move_due`` moves the subscriptions
whose time has come. The cost of ``announce`` and ``move_due`` depends only on what is due. If a
worker is killed in one of them, the next call goes on.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, Max, OuterRef, Q, TextField, Value
from django.db.models.functions import Concat
from django.utils import timezone

from controlplane.core import audit, enqueue, instants
from controlplane.core.audit import WORKER, Actor
from controlplane.core.errors import QuotaExceeded
from plans.catalog import differences, publishing
from plans.models import CatalogDraft, Invoice, Plan, PlanSubscription
from plans.rating.periods import day_of, month_of
from tenants import admission
from tenants.actions import catalog_drafts, plan_subscriptions, tenants
from tenants.actions.plan_subscriptions import PlanLacks
from tenants.models import Tenant
from tenants.notifications import outbox
from tenants.notifications.models import Event

BATCH = 200  # subscriptions in one transaction of ``announce``, and in one step of ``move_due``
EVENT = "plan.version"
logger = structlog.get_logger(__name__)
_SHORTEST = timedelta(microseconds=1)
# The beginning and the end of the error of a draft of which some tenants could not be notified.
_NOT_NOTIFIED = "Tenants that could not be notified, and do not move: "
_SEE_LOG = ". The log has the reason."
_State = CatalogDraft.State


def choose(*, tenant: Tenant, follows: bool, by: Actor, now: datetime) -> PlanSubscription:
    """Make the tenant's subscription follow its plan, or stay with its version.

    A subscription that follows and has an older version moves at the beginning of the tenant's next
    billing month. If it has the newest version and a scheduled catalog changes its plan, it moves
    when that catalog says. One that stays moves no more. Idempotent.

    Raises:
        NoPlan: the tenant has no plan.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        row = required_of(locked)
        if row.follows == follows:
            return row
        before, row.follows = {"follows": row.follows}, follows
        row.moves_at, row.moves_by = _planned(row, now) if follows else (None, None)
        row.save(update_fields=["follows", "moves_at", "moves_by", "updated_at"])
        subject, after = tenants.subject(locked), {"follows": follows}
        audit.record(by, "plan_subscription.follow", subject, before=before, after=after)
    return row


def open_of(tenant: Tenant) -> PlanSubscription | None:
    """Return the tenant's open subscription with its plan.

    None if the tenant has none: it never had one, or its erasure has ended it.
    """
    rows = PlanSubscription.objects.select_related("plan", "tenant__seller_assignment")
    return rows.filter(tenant=tenant, ends_at__isnull=True).first()


def required_of(tenant: Tenant) -> PlanSubscription:
    """Return the tenant's open subscription as ``open_of`` does.

    Raises:
        NoPlan: the tenant has none.
    """
    row = open_of(tenant)
    if row is None:
        raise admission.no_plan(tenant)
    return row


def _planned(row: PlanSubscription, now: datetime) -> tuple[datetime | None, CatalogDraft | None]:
    """Return when a subscription that begins to follow moves, and the draft that sets this time."""
    if Plan.objects.filter(key=row.plan.key, retired=False).exclude(pk=row.plan_id).exists():
        return next_month(row.tenant, now), None
    draft = catalog_drafts.scheduled()
    if draft is not None and row.plan.key in draft.changed_plans:
        return _move_of(draft, row.tenant), draft
    return None, None


def next_month(tenant: Tenant, instant: datetime) -> datetime:
    """Return the first beginning of a billing month of the tenant at or after ``instant``."""
    month = month_of(instant, tenant.billing_time_zone)
    return instant if instant == month.starts_at else month.ends_at


def _move_of(draft: CatalogDraft, tenant: Tenant) -> datetime:
    assert draft.follows_at is not None  # a constraint: it is scheduled
    return next_month(tenant, draft.follows_at) if draft.at_period else draft.follows_at


def _move_after_publication(draft: CatalogDraft, tenant: Tenant) -> datetime:
    """Return when a tenant moves that got no notice while the draft was scheduled."""
    assert draft.effective_at is not None  # a constraint: it is published
    at = draft.effective_at + timedelta(days=settings.CATALOG_NOTICE_DAYS)
    return next_month(tenant, at) if draft.at_period else at


def announce(now: datetime) -> bool:
    """Notify the next batch of tenants of what a draft changes; plan or take back their moves.

    Returns whether more may be left. Each tenant gets one event for each draft, and one more if it
    is canceled after the tenant got notice or planned a move. A tenant that cannot be notified
    stops no other, and does not move to a version without notice; the draft's ``error`` names it.
    """
    with transaction.atomic():
        # Skip locked: another worker announces it already.
        waiting = CatalogDraft.objects.select_for_update(skip_locked=True).filter(
            is_announced=False
        )
        draft = waiting.order_by("created_at").first()
        if draft is None:
            return False
        rows = _batch(draft)
        if draft.state == _State.CANCELED:
            missed = _each(rows, lambda row: _take_back(row, draft, now))
        else:
            missed = _each(rows, _Announcement(draft, now).to)
        for row in missed:
            _keep(row, draft)
        draft.announced_up_to = rows[-1].pk if rows else draft.announced_up_to
        # After a full batch there may be more; if there is none, the next call finds that out.
        draft.is_announced = len(rows) < BATCH
        draft.save(update_fields=["announced_up_to", "is_announced", "error", "updated_at"])
    return True


def _each(
    rows: Sequence[PlanSubscription], tell: Callable[[PlanSubscription], None]
) -> list[PlanSubscription]:
    """Call ``tell`` for each row, in a savepoint of its own; return the rows for which it fails."""
    failed = []
    for row in rows:
        try:
            with transaction.atomic():
                tell(row)
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:  # one faulty tenant must not stop the moves of the others
            logger.error("a tenant was not notified", tenant=row.tenant_id, exc_info=error)
            failed.append(row)
    return failed


def _keep(missed: PlanSubscription, draft: CatalogDraft) -> None:
    """Take back the move of a tenant that does not know of it, and name the tenant to staff."""
    if draft.state == _State.SCHEDULED:
        return  # its publication tells the tenant, with the whole notice
    row = PlanSubscription.objects.select_related("tenant").get(pk=missed.pk)
    is_planned, is_published = row.moves_by_id == draft.pk, draft.state == _State.PUBLISHED
    knows = is_planned or getattr(missed, "was_notified", False)
    if is_published and knows:
        return
    # A move that is planned leads to the newest version, whoever planned it.
    if is_published or is_planned:
        row.moves_at, row.moves_by = None, None
        row.save(update_fields=["moves_at", "moves_by", "updated_at"])
    before = draft.error.removesuffix(_SEE_LOG)
    named = f"{before}, {row.tenant.slug}" if before else f"{_NOT_NOTIFIED}{row.tenant.slug}"
    draft.error = f"{named}{_SEE_LOG}"


def _batch(draft: CatalogDraft) -> list[PlanSubscription]:
    """Return the next subscriptions to look at, locked against a change of plan.

    Their attribute ``was_notified`` says whether the tenant got notice of the draft already.
    """
    rows = PlanSubscription.objects.filter(ends_at__isnull=True, pk__gt=draft.announced_up_to)
    key = Concat(Value(f"{EVENT}:{draft.pk}:"), "tenant_id", output_field=TextField())
    notice = Event.objects.filter(dedup_key=OuterRef("notice_key"))
    rows = rows.annotate(notice_key=key).annotate(was_notified=Exists(notice))
    if draft.state == _State.CANCELED:
        # Also subscriptions that stay, or that have an earlier move: their tenants got notice too.
        # Without notice, a tenant may know of its move from Settings, where it chose to follow.
        notified = Q(was_notified=True, plan__key__in=draft.changed_plans)
        rows = rows.filter(Q(moves_by=draft) | notified)
    else:
        rows = rows.filter(plan__key__in=draft.changed_plans)
        if draft.version_id is not None:  # who began on the new version needs no notice
            rows = rows.exclude(plan__catalogue_id=draft.version_id)
    locked = rows.select_for_update(of=("self",)).select_related("plan", "tenant")
    return list(locked.order_by("pk")[:BATCH])


class _Announcement:
    """Announces one draft; keeps the sentences of each version of a plan while it does."""

    def __init__(self, draft: CatalogDraft, now: datetime) -> None:
        self.draft, self.now = draft, now
        self._sentences: dict[int, str] = {}

    def to(self, row: PlanSubscription) -> None:
        """Write an event for the tenant of a subscription, and plan its move if it follows."""
        at = self._plan(row)
        outbox.write(
            EVENT,
            tenant=row.tenant,
            key=f"{self.draft.pk}:{row.tenant_id}",
            fields={
                "plan": row.plan.title,
                "headline": self._headline(row, at),
                "changes": self._changes(row.plan),
                "consequence": self._consequence(row, at),
                "on": instants.text(at) if at else None,
            },
            now=self.now,
        )
        if row.follows:
            PlanSubscription.objects.filter(pk=row.pk).update(
                moves_at=row.moves_at, moves_by=row.moves_by_id
            )

    def _plan(self, row: PlanSubscription) -> datetime | None:
        """Plan the move of a subscription that follows; return when it moves to this draft."""
        if not row.follows:
            return None
        if row.moves_by_id == self.draft.pk:
            return row.moves_at
        at = _move_of(self.draft, row.tenant)
        if self.draft.state == _State.PUBLISHED and not getattr(row, "was_notified", False):
            at = _move_after_publication(self.draft, row.tenant)
        # An earlier move to a version in force comes first. The publication announces again, and
        # plans this one then.
        is_scheduled = self.draft.state == _State.SCHEDULED
        if not (is_scheduled and row.moves_at is not None and row.moves_at < at):
            row.moves_at, row.moves_by = at, self.draft
        return at

    def _headline(self, row: PlanSubscription, at: datetime | None) -> str:
        if at is None:
            return f"There is a new version of your plan {row.plan.title}"
        return f"Your plan {row.plan.title} changes on {_day(row.tenant, at)}"

    def _consequence(self, row: PlanSubscription, at: datetime | None) -> str:
        if at is None:
            assert self.draft.effective_at is not None  # a constraint: it is scheduled or published
            sold_from = _day(row.tenant, self.draft.effective_at)
            return (
                f"The new version is sold from {sold_from} on. You stay with your version. "
                "You can choose to follow the plan under Settings."
            )
        return (
            f"Your subscription follows the plan and moves on {_day(row.tenant, at)}. "
            "You can choose to stay with your version under Settings before."
        )

    def _changes(self, plan: Plan) -> str:
        if plan.pk not in self._sentences:
            wanted = self.draft.document["plans"][plan.key]
            currency = self.draft.document["seller"]["currency"]
            found = differences.of_plan(plan.definition, wanted, currency)
            self._sentences[plan.pk] = " ".join(found)
        return self._sentences[plan.pk]


def _day(tenant: Tenant, instant: datetime) -> str:
    return day_of(instant, tenant.billing_time_zone).isoformat()


def _take_back(row: PlanSubscription, draft: CatalogDraft, now: datetime) -> None:
    """Plan the move again as if there were no ``draft``; write the event that it is canceled."""
    if row.moves_by_id == draft.pk:
        row.moves_at, row.moves_by = _planned(row, now)
        row.save(update_fields=["moves_at", "moves_by", "updated_at"])
    headline, consequence = f"Your plan {row.plan.title} does not change", "You keep your version."
    if row.moves_at is not None:
        day = _day(row.tenant, row.moves_at)
        headline = f"Your plan {row.plan.title} changes on {day}"
        consequence = f"Your subscription moves to another new version on {day}."
    outbox.write(
        EVENT,
        tenant=row.tenant,
        key=f"{draft.pk}:{row.tenant_id}:canceled",
        fields={
            "plan": row.plan.title,
            "headline": headline,
            "changes": "",
            "consequence": f"The announced new version is canceled. {consequence}",
            "on": instants.text(row.moves_at) if row.moves_at else None,
        },
        now=now,
    )


def move_due(now: datetime) -> bool:
    """Move the next batch of subscriptions whose time has come; return whether more may be left.

    A tenant that does not fit the new version stays with its own, and gets an event with the
    reason. Each move is a transaction of its own. None happens while a draft is not
    announced to all tenants yet: a move goes to the newest version, of which a tenant must know.
    A move that fails is tried again after all others that are due.
    """
    unannounced = CatalogDraft.objects.filter(is_announced=False)
    due = PlanSubscription.objects.filter(
        ~Exists(unannounced), moves_at__lte=now, ends_at__isnull=True
    )
    # A move that failed comes last in the next batch, so that it keeps no other one waiting.
    found = list(due.order_by("updated_at", "pk").values_list("tenant_id", flat=True)[:BATCH])
    n_failed = 0
    for tenant_id in found:
        try:
            _move(tenant_id, now)
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:  # one faulty tenant must not stop the moves of the others
            logger.error("a subscription was not moved", tenant=tenant_id, exc_info=error)
            n_failed += 1
            due.filter(tenant_id=tenant_id).update(updated_at=timezone.now())
    # A batch that failed as a whole would be found again at once, without end.
    return len(found) == BATCH and n_failed < BATCH


def _move(tenant_id: str, now: datetime) -> None:
    with transaction.atomic():
        locked = admission.locked_tenant(Tenant(pk=tenant_id))
        row = open_of(locked)
        if row is None or row.moves_at is None or row.moves_at > now:
            return  # it has changed since
        if CatalogDraft.objects.filter(is_announced=False).exists():
            return  # published since
        newest = Plan.objects.filter(key=row.plan.key, retired=False).first()
        wanted_at, row.moves_at, row.moves_by = row.moves_at, None, None
        if newest is None or newest.pk == row.plan_id:
            row.save(update_fields=["moves_at", "moves_by", "updated_at"])
            return
        try:
            plan_subscriptions.check_fits(locked, publishing.plan_definition(newest))
        except (QuotaExceeded, PlanLacks) as error:
            row.save(update_fields=["moves_at", "moves_by", "updated_at"])
            _tell_kept(row, newest, error.message, now)
            return
        row.ends_at = _boundary(row, wanted_at)
        # Saved before the new one is created: a constraint allows one open subscription.
        row.save(update_fields=["ends_at", "moves_at", "moves_by", "updated_at"])
        PlanSubscription.objects.create(
            tenant=locked,
            plan=newest,
            starts_at=row.ends_at,
            trial_ends_at=row.trial_ends_at,
            follows=True,
        )
        versions = ({"version": row.plan.version}, {"version": newest.version})
        audit.record(
            WORKER,
            "plan_subscription.move",
            tenants.subject(locked),
            before=versions[0],
            after=versions[1],
        )
        enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)


def _boundary(row: PlanSubscription, wanted_at: datetime) -> datetime:
    """Return the instant of a move: ``wanted_at``, or later if that part is billed already."""
    billed = Invoice.objects.filter(tenant_id=row.tenant_id).exclude(state=Invoice.State.OPEN)
    last: datetime | None = billed.aggregate(last=Max("ends_at"))["last"]
    # Not at the very end: the invoice was priced with a plan that runs on after its period.
    earliest = max(last or row.starts_at, row.starts_at) + _SHORTEST
    return max(wanted_at, earliest)


def _tell_kept(row: PlanSubscription, newest: Plan, reason: str, now: datetime) -> None:
    outbox.write(
        EVENT,
        tenant=row.tenant,
        key=f"{newest.pk}:{row.tenant_id}:kept",
        fields={
            "plan": row.plan.title,
            "headline": f"You stay with your version of the plan {row.plan.title}",
            "changes": "",
            "consequence": f"What you use does not fit the new version. {reason}",
            "on": None,
        },
        now=now,
    )
