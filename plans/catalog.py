"""The catalogue: parse a YAML document into typed definitions, publish it, look plans up.

Called by staff pages, the API, the command line and ``plans.invoicing``. A definition is
immutable: a changed plan is published as a new version, and existing subscriptions stay on theirs
until they are moved. The parser is ``plans/catalogue/parsing.py``; the default document lies
beside it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Missing
from plans.catalogue import definitions, parsing
from plans.catalogue.definitions import (
    AddressPlanDefinition,
    Catalogue,
    MeterPrice,
    PlanDefinition,
    Seller,
    SpacePlanDefinition,
    Tier,
)
from plans.models import AddressPlan, CatalogueVersion, Plan, SpacePlan

__all__ = [
    "AddressPlanDefinition",
    "Catalogue",
    "Change",
    "MeterPrice",
    "PlanDefinition",
    "Seller",
    "SpacePlanDefinition",
    "Tier",
    "address_plan",
    "address_plan_definition",
    "current",
    "default_yaml",
    "ensure_default",
    "parse",
    "plan",
    "plan_definition",
    "preview",
    "publish",
    "seller",
    "space_plan",
    "space_plan_definition",
]

_PUBLISH_LOCK = 0x77617970  # advisory lock: publications are rare and run one at a time
_ROWS: Mapping[str, type[Plan] | type[SpacePlan] | type[AddressPlan]] = {
    "plans": Plan,
    "space_plans": SpacePlan,
    "address_plans": AddressPlan,
}
# Who is on a plan: the relation from its row, and the field that is null while it lasts.
_USERS = {
    "plans": ("subscriptions", "ends_at"),
    "space_plans": ("spaces", "deleted_at"),
    "address_plans": ("addresses", "deleted_at"),
}


@dataclass(frozen=True)
class Change:
    """What publishing would do to one plan: ``kind`` is new, changed, retired or same.

    ``n_subscribers`` counts who has any version of it now: tenants of a plan, spaces of a space
    plan, addresses of an address plan. They keep their version.
    """

    section: str
    key: str
    kind: str
    n_subscribers: int


def parse(yaml_text: str) -> Catalogue:
    """Return the typed catalogue of a YAML document; publishes nothing.

    Raises:
        Invalid: fields hold {field: ["line n: reason"]} for every mistake.
    """
    return parsing.parse(yaml_text)


def default_yaml() -> str:
    """Return the catalogue that ships with Waypost."""
    return resources.files("plans.catalogue").joinpath("default.yaml").read_text()


def preview(catalogue: Catalogue) -> list[Change]:
    """Return what publishing ``catalogue`` would change and how many tenants it touches."""
    changes = []
    for section in _ROWS:
        latest, n_users = _latest(section), _users_by_key(section)
        wanted = catalogue.document[section]
        for key in sorted(wanted.keys() | latest.keys()):
            kind = _change_kind(latest.get(key), wanted.get(key))
            changes.append(Change(section, key, kind, n_users.get(key, 0)))
    return changes


def publish(catalogue: Catalogue, *, by: Actor) -> CatalogueVersion:
    """Publish ``catalogue`` as the next version, all or nothing; returns the newest version.

    Publishing what is in force already changes nothing; an older catalogue may come back. Changed
    plans get a new version, absent ones are retired (nobody new may take them).
    """
    digest = _digest(catalogue.document)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_PUBLISH_LOCK])
        newest = _newest()
        if newest is not None and newest.digest == digest:
            return newest
        version = CatalogueVersion.objects.create(
            number=newest.number + 1 if newest else 1,
            digest=digest,
            document=catalogue.document,
            published_at=timezone.now(),
            published_by=by.name,
        )
        for section in _ROWS:
            _publish_section(section, version)
        subject = audit.Subject("catalogue", str(version.number), f"version {version.number}")
        audit.record(by, "catalogue.publish", subject, after={"digest": digest})
    return version


def ensure_default(*, by: Actor) -> CatalogueVersion:
    """Publish the default catalogue unless any is published already. Idempotent."""
    return _newest() or publish(parse(default_yaml()), by=by)


def current() -> Catalogue:
    """Return the newest published catalogue.

    Raises:
        Missing: none is published; run ``waypost catalog publish``.
    """
    newest = _newest()
    if newest is None:
        raise Missing(
            "No catalogue is published yet: the operator runs `waypost catalog publish FILE`.",
            code="catalogue.missing",
        )
    return definitions.from_document(newest.document)


def seller(number: int | None = None) -> Seller:
    """Return the selling legal entity of a catalogue version (the newest when None).

    Raises:
        Missing: there is no such version.
    """
    if number is None:
        return current().seller
    version = CatalogueVersion.objects.filter(number=number).first()
    if version is None:
        raise Missing(f"There is no catalogue version {number}.", code="catalogue.missing")
    return definitions.seller(version.document["seller"])


def plan(key: str) -> Plan:
    """Return the newest version of an offered commercial plan.

    Raises:
        Missing: no such plan, or retired; the message lists what is offered.
    """
    found: Plan = _offered(Plan, "plan", key)
    return found


def space_plan(key: str) -> SpacePlan:
    """Return the newest version of an offered space plan (Missing otherwise)."""
    found: SpacePlan = _offered(SpacePlan, "space plan", key)
    return found


def address_plan(key: str) -> AddressPlan:
    """Return the newest version of an offered address plan (Missing otherwise)."""
    found: AddressPlan = _offered(AddressPlan, "address plan", key)
    return found


def plan_definition(row: Plan) -> PlanDefinition:
    """Return the typed definition of a plan row, of that very version."""
    return definitions.plan(row.key, row.definition)


def space_plan_definition(row: SpacePlan) -> SpacePlanDefinition:
    """Return the typed definition of a space plan row, of that very version."""
    return definitions.space_plan(row.key, row.definition)


def address_plan_definition(row: AddressPlan) -> AddressPlanDefinition:
    """Return the typed definition of an address plan row, of that very version."""
    return definitions.address_plan(row.key, row.definition)


def _newest() -> CatalogueVersion | None:
    return CatalogueVersion.objects.order_by("-number").first()


def _offered(model: Any, noun: str, key: str) -> Any:
    row = model.objects.filter(key=key).order_by("-version").first()
    if row is None or row.retired:
        offered = sorted(set(model.objects.filter(retired=False).values_list("key", flat=True)))
        raise Missing(
            f"There is no {noun} {key!r}; choose one of: {', '.join(offered) or 'none yet'}.",
            code=f"{noun.replace(' ', '_')}.unknown",
            offered=offered,
        )
    return row


def _publish_section(section: str, version: CatalogueVersion) -> None:
    model = _ROWS[section]
    latest = _latest(section)
    wanted = version.document[section]
    for key, definition in wanted.items():
        before = latest.get(key)
        if _change_kind(before, definition) != "same":
            columns = _type_columns(section, definition)
            model.objects.filter(key=key).update(retired=True)
            model.objects.create(
                key=key,
                version=before.version + 1 if before else 1,
                catalogue=version,
                title=definition["title"],
                definition=definition,
                **columns,
            )
    model.objects.exclude(key__in=wanted).update(retired=True)


def _type_columns(section: str, definition: Mapping[str, Any]) -> dict[str, str]:
    names = {"space_plans": ["space_type"], "address_plans": ["address_type", "space_type"]}
    return {name: definition[name] for name in names.get(section, [])}


def _latest(section: str) -> dict[str, Any]:
    rows = _ROWS[section].objects.order_by("key", "-version").distinct("key")
    return {row.key: row for row in rows}


def _change_kind(before: Any, wanted: Mapping[str, Any] | None) -> str:
    if before is None or (before.retired and wanted is not None):
        return "new"
    if wanted is None:
        return "same" if before.retired else "retired"
    return "same" if before.definition == wanted else "changed"


def _users_by_key(section: str) -> Mapping[str, int]:
    relation, alive = _USERS[section]
    counted = Count(relation, filter=Q(**{f"{relation}__{alive}__isnull": True}))
    rows = _ROWS[section].objects.values_list("key").annotate(n_users=counted)
    found: dict[str, int] = {}
    for key, n_users in rows:
        found[key] = found.get(key, 0) + n_users
    return found


def _digest(document: Mapping[str, Any]) -> str:
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
