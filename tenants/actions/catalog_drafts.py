"""Prepare a catalog, publish it now or at an instant, and cancel what is scheduled.

API, portal and command call ``prepare``, ``publish`` and ``cancel``. The periodic task
``workers.advance_catalog`` calls ``publish_due``; ``plan_versions`` then announces the change to
tenants and moves the subscriptions that follow their plan.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
import yaml as to_yaml  # a parameter has the name of the module
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Q

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing, WaypostError
from plans.catalog import definitions, differences, kept_sellers, parsing, publishing
from plans.catalog.differences import PlanDifference
from plans.models import CatalogDraft, CatalogVersion, PlanSubscription

logger = structlog.get_logger(__name__)
State = CatalogDraft.State
_ONE_SCHEDULED = "catalog_draft_one_scheduled"


class AlreadyScheduled(Conflict):
    """Another catalog is scheduled: cancel that one first."""

    code = "catalog.already_scheduled"


class NotOpen(Conflict):
    """The draft is in another state than the request needs."""

    code = "catalog.draft_state"


@dataclass(frozen=True)
class Timing:
    """When a catalog takes effect, and when subscriptions that follow their plan move.

    ``effective_at`` None means now. ``at_period``: a subscription moves at the beginning of a
    billing month of its tenant, and otherwise as soon as the notice permits.
    """

    effective_at: datetime | None = None
    at_period: bool = True


@dataclass(frozen=True)
class Audience:
    """How many tenants on the plan ``plan``, a key, follow it, and how many keep their version."""

    plan: str
    n_followers: int
    n_stayers: int


def get(id: str) -> CatalogDraft:
    """Return the draft ``id``.

    Raises:
        Missing: there is none.
    """
    found = CatalogDraft.objects.filter(pk=id).first()
    if found is None:
        raise Missing("There is no draft of a catalog with this id.", code="catalog.draft_missing")
    return found


def scheduled() -> CatalogDraft | None:
    """Return the draft that is scheduled; None if none is."""
    return CatalogDraft.objects.filter(state=State.SCHEDULED).first()


def compared(document: dict[str, Any]) -> list[PlanDifference]:
    """Return what a canonical document changes of the newest published catalog, in words."""
    newest = publishing.newest_version()
    return differences.between(newest.document if newest else None, document)


def changes(draft: CatalogDraft) -> list[PlanDifference]:
    """Return what a draft changes of the newest published catalog, in words.

    A published draft is compared with the catalog that it replaced.
    """
    if draft.state != State.PUBLISHED:
        return compared(draft.document)
    version = draft.version
    # A draft that equaled the newest version made none.
    if version is None or version.published_at < draft.created_at:
        return []
    earlier = CatalogVersion.objects.filter(number__lt=version.number).order_by("-number")
    replaced = earlier.first()
    return differences.between(replaced.document if replaced else None, draft.document)


def audiences(draft: CatalogDraft) -> list[Audience]:
    """Count the tenants that get notice of a draft, by changed plan, as subscriptions are now.

    A draft that changes no plan of tenants, such as one of space plans alone, notifies nobody. One
    query.
    """
    # The plans are stored only once the draft is scheduled.
    keys = _changed_plans(draft) if draft.state == State.DRAFT else draft.changed_plans
    rows = PlanSubscription.objects.filter(ends_at__isnull=True, plan__key__in=keys)
    counts = (
        rows.order_by()
        .values("plan__key")
        .annotate(
            followers=Count("pk", filter=Q(follows=True)),
            stayers=Count("pk", filter=Q(follows=False)),
        )
    )
    found = {row["plan__key"]: (row["followers"], row["stayers"]) for row in counts}
    return [Audience(key, *found.get(key, (0, 0))) for key in keys]


def text_in_force() -> str:
    """Return the newest catalog as YAML: the text that was uploaded, or its canonical form.

    Before the first publication, it is the catalog that ships with Waypost.
    """
    newest = publishing.newest_version()
    if newest is None:
        return publishing.default_yaml()
    draft = CatalogDraft.objects.filter(version=newest).first()
    if draft is not None:
        return draft.yaml
    # The canonical form repeats the seller's currency in each plan; a catalog's text does not.
    plans = {
        key: {name: value for name, value in plan.items() if name != "currency"}
        for key, plan in newest.document["plans"].items()
    }
    return to_yaml.safe_dump({**newest.document, "plans": plans}, allow_unicode=True)


def prepare(*, yaml: str, note: str = "", by: Actor) -> CatalogDraft:
    """Store a catalog as a draft; nothing is published.

    Raises:
        CatalogInvalid: the text has mistakes; ``fields`` lists them with their lines.
    """
    catalog = parsing.parse(yaml)
    with transaction.atomic():
        draft = CatalogDraft.objects.create(
            yaml=yaml, document=dict(catalog.document), note=note, made_by=by.name
        )
        audit.record(by, "catalogue.prepare", _subject(draft))
    return draft


def publish(
    *, draft: CatalogDraft, timing: Timing = Timing(), by: Actor, now: datetime
) -> CatalogDraft:
    """Publish a draft now, or schedule it; return its row afterwards.

    Idempotent: a draft that is scheduled for the same times, or published, is returned as it is.

    Raises:
        NotOpen: the draft is canceled, or scheduled for other times.
        AlreadyScheduled: another draft is scheduled.
        Invalid: the currency differs from that of the catalog in force.
        SellerInUse: a seller or currency of a tenant is missing.
    """
    effective_at = max(timing.effective_at or now, now)
    try:
        with transaction.atomic():
            row = CatalogDraft.objects.select_for_update().get(pk=draft.pk)
            if _is_as_wanted(row, timing):
                return row
            if row.state != State.DRAFT:
                raise NotOpen(f"This draft is {row.state}: upload the catalog again.")
            _check_against_newest(row)
            other = scheduled()
            if other is not None:
                raise _other_scheduled(other)
            row.state, row.scheduled_by = State.SCHEDULED, by.name
            row.effective_at, row.at_period = effective_at, timing.at_period
            notice = now + timedelta(days=settings.CATALOG_NOTICE_DAYS)
            row.follows_at = max(effective_at, notice)
            row.changed_plans = _changed_plans(row)
            row.is_announced, row.announced_up_to = False, 0
            row.save()
            audit.record(
                by,
                "catalogue.schedule",
                _subject(row),
                after={"effective_at": effective_at.isoformat(), "at_period": row.at_period},
            )
            if effective_at <= now:
                _publish(row, by)
            enqueue.after_commit("workers.advance_catalog")
    except IntegrityError as error:  # two requests at once
        if _ONE_SCHEDULED not in str(error):
            raise
        raise _other_scheduled(scheduled()) from error
    return row


def cancel(*, draft: CatalogDraft, by: Actor) -> CatalogDraft:
    """Cancel a draft that is not published. Idempotent.

    A worker then plans the moves of subscriptions again without the draft. Each tenant that got
    notice of it, or whose subscription was to move, gets an event.

    Raises:
        NotOpen: it is published already.
    """
    with transaction.atomic():
        row = CatalogDraft.objects.select_for_update().get(pk=draft.pk)
        if row.state == State.CANCELED:
            return row
        if row.state == State.PUBLISHED:
            raise NotOpen("This catalog is published already: publish another one instead.")
        was_scheduled = row.state == State.SCHEDULED
        row.state, row.error = State.CANCELED, ""
        # The worker goes through the subscriptions again, and takes the planned moves back.
        row.is_announced, row.announced_up_to = not was_scheduled, 0
        row.save()
        audit.record(by, "catalogue.cancel", _subject(row))
        enqueue.after_commit("workers.advance_catalog")
    return row


def publish_due(now: datetime) -> CatalogDraft | None:
    """Publish the scheduled draft if its time has come. Idempotent.

    Returns the draft; None if nothing was published. A draft that cannot be published stays
    scheduled, with the reason in ``error``. It is tried again until staff cancel it.
    """
    with transaction.atomic():
        due = CatalogDraft.objects.select_for_update().filter(
            state=State.SCHEDULED, effective_at__lte=now
        )
        row = due.first()
        if row is None:
            return None
        try:
            # A savepoint: a refusal undoes the publication, and its reason can be stored.
            with transaction.atomic():
                _publish(row, Actor(row.scheduled_by))
        except WaypostError as error:  # such as a seller that a tenant has got since
            logger.error("a scheduled catalog is not published", draft=row.pk, exc_info=error)
            CatalogDraft.objects.filter(pk=row.pk).update(error=error.message)
            return None
    return row


def _publish(row: CatalogDraft, by: Actor) -> None:
    version = publishing.publish(definitions.from_document(row.document), by=by)
    # A catalog that equals the newest version makes no version; another draft may have made that.
    is_new = not CatalogDraft.objects.filter(version=version).exists()
    row.state, row.version = State.PUBLISHED, version if is_new else None
    # Announce again, because subscriptions may have begun on an older version since the first time.
    row.is_announced, row.announced_up_to, row.error = False, 0, ""
    row.save()


def _is_as_wanted(row: CatalogDraft, timing: Timing) -> bool:
    if row.state == State.PUBLISHED:
        return True
    same = (row.effective_at, row.at_period) == (timing.effective_at, timing.at_period)
    return row.state == State.SCHEDULED and same


def _changed_plans(row: CatalogDraft) -> list[str]:
    """Return the keys of the plans of tenants of which the draft makes a new version."""
    latest, wanted = publishing.PLANS.latest(), row.document["plans"]
    changes = {key: publishing.PLANS.change(latest.get(key), wanted[key]) for key in wanted}
    return sorted(key for key, kind in changes.items() if kind == "changed")


def _check_against_newest(row: CatalogDraft) -> None:
    """Check that the draft keeps the currency, and every seller that a tenant has."""
    newest = publishing.newest_version()
    if newest is None:
        return
    present, wanted = (d["seller"]["currency"] for d in (newest.document, row.document))
    if present != wanted:
        raise Invalid(
            f"The catalog in force is in {present}, this one in {wanted}: running months cannot "
            "change their currency. Keep the currency.",
            code="catalog.currency",
        )
    before = definitions.seller(newest.document["seller"])
    kept_sellers.check(before, definitions.from_document(row.document))


def _other_scheduled(other: CatalogDraft | None) -> AlreadyScheduled:
    at = other.effective_at if other else None
    when = f" for {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""
    return AlreadyScheduled(
        f"A catalog is scheduled{when} already, so no other can be published, also not at once: "
        "cancel it first, or wait until it is in force.",
        draft=other.pk if other else "",
    )


def _subject(row: CatalogDraft) -> audit.Subject:
    return audit.Subject("catalogue", row.pk, row.note or "draft of a catalog")
