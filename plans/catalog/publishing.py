"""Publishes catalogs, and looks up the plans that are offered or in use.

A published definition is immutable. Publishing a changed plan makes a new version of it; tenants,
spaces and addresses keep their version until they are moved. The parser is
``plans/catalog/parsing.py``; the default document is ``plans/catalog/default.yaml``.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid, Missing
from plans.catalog import definitions, kept_sellers, parsing
from plans.catalog.definitions import (
    AddressPlanDefinition,
    Catalog,
    PlanDefinition,
    Seller,
    SpacePlanDefinition,
)
from plans.models import (
    AddressPlan,
    CatalogVersion,
    Plan,
    PlanSubscription,
    SpacePlan,
)


@dataclass(frozen=True)
class PlanKind:
    """One of the three kinds of plans; its methods query and publish the plans of this kind.

    ``section`` is the kind's section in the catalog, ``model`` the model with one row for each
    version of a plan. ``noun`` names a plan in messages. ``relation`` is the model's relation to
    the rows that use a plan (subscriptions, spaces or addresses); ``alive`` is the column of those
    rows that is null while the use lasts. ``columns`` are the fields of a definition that
    ``publish`` also copies to columns, for queries.
    """

    section: str
    model: type[Plan] | type[SpacePlan] | type[AddressPlan]
    noun: str
    relation: str
    alive: str
    columns: tuple[str, ...] = ()

    def latest(self) -> dict[str, Any]:
        """Return {key: row of the newest version} of every plan ever published, retired or not."""
        # DISTINCT ON (key) keeps the first row of each key, so the newest version.
        rows = self.model.objects.order_by("key", "-version").distinct("key")
        return {row.key: row for row in rows}

    def users_by_key(self) -> Mapping[str, int]:
        """Return {key: number of subscriptions, spaces or addresses on any version of the plan}.

        A plan that nothing uses has the number zero.
        """
        # Ended subscriptions and deleted spaces and addresses do not count.
        counted = Count(self.relation, filter=Q(**{f"{self.relation}__{self.alive}__isnull": True}))
        rows = self.model.objects.values_list("key").annotate(n_users=counted)
        found: dict[str, int] = {}
        for key, n_users in rows:
            found[key] = found.get(key, 0) + n_users
        return found

    def change(self, before: Any, wanted: Mapping[str, Any] | None) -> str:
        """Return what publishing does to a plan: ``new``, ``changed``, ``retired`` or ``same``.

        ``before`` is the plan's newest row, None if it was never published. ``wanted`` is its
        definition in the catalog to publish, None if the catalog lacks it. A retired plan that a
        catalog offers again is ``new``. Writes nothing.
        """
        # A retired plan that is offered again gets a new version, even with an equal definition.
        if before is None or (before.retired and wanted is not None):
            return "new"
        if wanted is None:
            return "same" if before.retired else "retired"
        return "same" if before.definition == wanted else "changed"

    def publish(self, version: CatalogVersion) -> None:
        """Add a row for each new or changed plan in ``version``; retire the plan's older versions.

        Also retires all plans of this kind that the document of ``version`` lacks. Call it in the
        transaction that holds the publish lock, as the function ``publish`` does.
        """
        latest, wanted = self.latest(), version.document[self.section]
        rows: list[Any] = [
            self.model(
                key=key,
                version=latest[key].version + 1 if key in latest else 1,
                catalogue=version,
                title=definition["title"],
                definition=definition,
                **{name: definition[name] for name in self.columns},
            )
            for key, definition in wanted.items()
            if self.change(latest.get(key), definition) != "same"
        ]
        # Only the newest version is offered. What is on an older version keeps it.
        outdated = Q(key__in=[row.key for row in rows]) | ~Q(key__in=wanted)
        self.model.objects.filter(outdated).update(retired=True)
        self.model.objects.bulk_create(rows)

    def offered(self, key: str) -> Any:
        """Return the row of the newest version of the plan ``key``.

        Raises:
            Invalid: there is no such plan, or it is retired; the message lists the offered plans.
        """
        row = self.model.objects.filter(key=key).order_by("-version").first()
        if row is None or row.retired:
            keys = self.model.objects.filter(retired=False).values_list("key", flat=True)
            choice = f"Choose one of: {', '.join(sorted(set(keys))) or 'none yet'}."
            raise Invalid(
                f"There is no {self.noun} {key!r}. {choice}",
                code=f"{self.noun.replace(' ', '_')}.unknown",
                plan=[choice],
            )
        return row


PLANS = PlanKind("plans", Plan, "plan", "subscriptions", "ends_at")
SPACE_PLANS = PlanKind(
    "space_plans", SpacePlan, "space plan", "spaces", "deleted_at", ("space_type",)
)
ADDRESS_PLANS = PlanKind(
    "address_plans",
    AddressPlan,
    "address plan",
    "addresses",
    "deleted_at",
    ("address_type", "space_type"),
)
PLAN_KINDS = (PLANS, SPACE_PLANS, ADDRESS_PLANS)


@dataclass(frozen=True)
class Change:
    """Says what publishing would do to one plan: ``kind`` is a result of ``PlanKind.change``.

    ``section`` is the plan's section of the catalog. ``n_subscribers`` counts what is on any
    version of the plan now: tenants of a plan, spaces of a space plan, addresses of an address
    plan. All of them would keep their version.
    """

    section: str
    key: str
    kind: str
    n_subscribers: int


def default_yaml() -> str:
    """Return the YAML text of the catalog that ships with Waypost."""
    return resources.files("plans.catalog").joinpath("default.yaml").read_text()


def preview(catalog: Catalog) -> list[Change]:
    """Return what publishing ``catalog`` would do to each plan, ordered by section and key.

    Covers the plans in ``catalog`` and every plan ever published, also those that would stay the
    same. Writes nothing.
    """
    changes = []
    for plans in PLAN_KINDS:
        latest, n_users = plans.latest(), plans.users_by_key()
        wanted = catalog.document[plans.section]
        for key in sorted(wanted.keys() | latest.keys()):
            kind = plans.change(latest.get(key), wanted.get(key))
            changes.append(Change(plans.section, key, kind, n_users.get(key, 0)))
    return changes


def publish(catalog: Catalog, *, by: Actor) -> CatalogVersion:
    """Publish ``catalog`` as the next version in one transaction; return that version.

    If the newest version has the same document, changes nothing and returns that version. An older
    document may be published again and gets a new number. New and changed plans get a row with the
    next version of the plan. Plans that ``catalog`` lacks are retired: they are no longer offered,
    but tenants, spaces and addresses on them keep them. If another seller becomes the main one,
    tenants of the former main seller stay with the former one as long as it sells.

    Raises:
        kept_sellers.SellerInUse: ``catalog`` lacks a seller or a currency of a tenant.
    """
    # Sorted keys, because a jsonb column does not keep their order. Never change this format: the
    # digest of the text decides whether a catalog is published already.
    canonical = json.dumps(catalog.document, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    with transaction.atomic():
        # The lock is held until commit, so no other publication can take the same number.
        kept_sellers.alone()
        newest = newest_version()
        if newest is not None and newest.digest == digest:
            return newest
        if newest is not None:
            before = definitions.seller(newest.document["seller"])
            kept_sellers.check(before, catalog)
            kept_sellers.keep(before, catalog, by)
        version = CatalogVersion.objects.create(
            number=newest.number + 1 if newest else 1,
            digest=digest,
            document=catalog.document,
            published_at=timezone.now(),
            published_by=by.name,
        )
        for plans in PLAN_KINDS:
            plans.publish(version)
        subject = audit.Subject("catalogue", str(version.number), f"version {version.number}")
        audit.record(by, "catalogue.publish", subject, after={"digest": digest})
    return version


def ensure_default(*, by: Actor) -> CatalogVersion:
    """Publish the default catalog if no catalog is published yet; return the newest version."""
    return newest_version() or publish(parsing.parse(default_yaml()), by=by)


def current() -> Catalog:
    """Return the newest published catalog.

    Raises:
        Missing: no catalog is published; the message says how to publish one.
    """
    newest = newest_version()
    if newest is None:
        raise _no_catalog()
    return definitions.from_document(newest.document)


def _no_catalog() -> Missing:
    return Missing(
        "No catalog is published yet: the operator must run `waypost catalog publish FILE`.",
        code="catalog.missing",
    )


def seller(number: int | None = None, key: str = "") -> Seller:
    """Return a selling legal entity of the catalog version ``number`` (None: the newest).

    An empty ``key`` is the main seller.

    Raises:
        Missing: there is no such version or seller, or no catalog is published.
    """
    rows = Q() if number is None else Q(number=number)
    version = CatalogVersion.objects.filter(rows).order_by("-number").first()
    if version is None and number is None:
        raise _no_catalog()
    known = definitions.sellers(version.document) if version else ()
    for row in known:
        if key in ("", row.key):
            return row
    what = f"catalog version {number}" if version is None else f"seller {key} in the catalog"
    raise Missing(f"There is no {what}.", code="catalog.missing")


def plan(key: str) -> Plan:
    """Return the row of the newest version of the commercial plan ``key``.

    Raises:
        Invalid: there is no such plan, or it is retired; the message lists the offered plans.
    """
    found: Plan = PLANS.offered(key)
    return found


def space_plan(key: str) -> SpacePlan:
    """Return the newest row of the space plan ``key``; raise Invalid as ``plan`` does."""
    found: SpacePlan = SPACE_PLANS.offered(key)
    return found


def address_plan(key: str) -> AddressPlan:
    """Return the newest row of the address plan ``key``; raise Invalid as ``plan`` does."""
    found: AddressPlan = ADDRESS_PLANS.offered(key)
    return found


def plan_definition(row: Plan) -> PlanDefinition:
    """Return the typed definition of ``row``, which is one version of a commercial plan."""
    return definitions.plan(row.key, row.definition)


def space_plan_definition(row: SpacePlan) -> SpacePlanDefinition:
    """Return the typed definition of ``row``, which is one version of a space plan."""
    return definitions.space_plan(row.key, row.definition)


def address_plan_definition(row: AddressPlan) -> AddressPlanDefinition:
    """Return the typed definition of ``row``, which is one version of an address plan."""
    return definitions.address_plan(row.key, row.definition)


def plan_in(row: Plan, currency: str) -> PlanDefinition:
    """Return the definition of ``row`` with prices in ``currency``; NotPriced if it has none."""
    return plan_definition(row).in_currency(currency)


def sold_plan(subscription: PlanSubscription) -> PlanDefinition:
    """Return the plan of a subscription in the currency of its tenant's invoices.

    Takes no query if plan and ``tenant__seller_assignment`` are loaded.

    Raises:
        NotPriced: this version of the plan has no prices in the currency.
    """
    found = plan_definition(subscription.plan)
    assigned = getattr(subscription.tenant, "seller_assignment", None)
    # Without an assignment the tenant buys from the main seller: the plan's own currency.
    return found.in_currency(assigned.currency) if assigned else found


def trial_end(row: Plan, since: datetime) -> datetime | None:
    """Return when a free trial that begins at ``since`` ends; None if the plan has no trial."""
    days = plan_definition(row).trial_days
    return since + timedelta(days=days) if days else None


def newest_version() -> CatalogVersion | None:
    """Return the catalog version that was published last; None before the first publication."""
    return CatalogVersion.objects.order_by("-number").first()
