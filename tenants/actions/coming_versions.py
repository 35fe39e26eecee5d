"""Reads which other versions of a tenant's plan are on sale or scheduled, and what they change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plans.catalog import differences
from plans.models import Plan, PlanSubscription
from tenants.actions import catalog_drafts


@dataclass(frozen=True)
class ComingVersion:
    """A newer version of a tenant's plan; ``changes`` are sentences, compared with its own version.

    New subscriptions get the version from ``starts_at`` on. ``moves_at`` is when the tenant moves
    to it; None: the tenant stays, or moves to another version first.
    """

    starts_at: datetime
    changes: tuple[str, ...]
    moves_at: datetime | None


def of(row: PlanSubscription) -> list[ComingVersion]:
    """Return the version on sale, if the subscription has an older one, and a scheduled one.

    ``row.plan`` must be loaded, otherwise each call asks for it. Two queries at most.
    """
    found = []
    offered = Plan.objects.filter(key=row.plan.key, retired=False).exclude(pk=row.plan_id)
    newest, draft = offered.select_related("catalogue").first(), catalog_drafts.scheduled()
    if draft is not None and row.plan.key not in draft.changed_plans:
        draft = None
    # A move leads to the version that is on sale at its time.
    sold_from = draft.effective_at if draft else None
    is_to_draft = bool(sold_from and row.moves_at and sold_from <= row.moves_at)
    if newest is not None:
        changes = _changes(row.plan, newest.definition, newest.catalogue.document)
        moves_at = None if is_to_draft else row.moves_at
        found.append(ComingVersion(newest.catalogue.published_at, changes, moves_at))
    if draft is not None and sold_from is not None:
        wanted = draft.document["plans"][row.plan.key]
        changes = _changes(row.plan, wanted, draft.document)
        moves_at = row.moves_at if is_to_draft else None
        found.append(ComingVersion(sold_from, changes, moves_at))
    return found


def _changes(plan: Plan, wanted: Mapping[str, Any], catalog: Mapping[str, Any]) -> tuple[str, ...]:
    return differences.of_plan(plan.definition, wanted, catalog["seller"]["currency"])
