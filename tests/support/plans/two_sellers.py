"""A catalog of tests with two legal entities: one sells in euros and francs, one in dollars."""

import json
from typing import Any

from plans.catalog import parsing, publishing, selling
from plans.models import CatalogVersion, Plan
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF, STARTS_AT

DOLLARS, FRANCS = ("wp-inc", "USD"), ("wp", "CHF")
OTHER_SELLER = {
    "name": "Waypost Test Inc.",
    "address": "2 Pier Road\nBoston",
    "country": "US",
    "currency": "USD",
    "rounding": "half_up",
    "tax_percent": "6.25",
    "payment_days": 30,
}


def document(**seller: Any) -> dict[str, Any]:
    """Return the catalog as YAML would have it; ``seller`` replaces fields of the main seller.

    A dollar price is twice the number of the euro price, a price in francs three times.
    """
    made: dict[str, Any] = json.loads(rows.CATALOG)
    made["seller"] |= {"other_currencies": ["CHF"], **seller}
    made["sellers"] = {"wp-inc": dict(OTHER_SELLER)}
    for plan in made["plans"].values():
        plan["currencies"] = {"USD": _times(plan, 2), "CHF": _times(plan, 3)}
    for size in (*made["space_plans"].values(), *made["address_plans"].values()):
        price = float(size.get("hour_price", "0"))
        size["hour_prices"] = {"USD": f"{price * 2:.3f}", "CHF": f"{price * 3:.3f}"}
    return made


def _times(plan: dict[str, Any], factor: int) -> dict[str, Any]:
    prices = {
        meter: {
            **price,
            "tiers": [[end, f"{float(each) * factor:.2f}"] for end, each in price["tiers"]],
        }
        for meter, price in plan.get("prices", {}).items()
    }
    return {"monthly_fee_minor": plan["monthly_fee_minor"] * factor, "prices": prices}


def publish(**seller: Any) -> CatalogVersion:
    """Publish the catalog; return its version."""
    return publishing.publish(parsing.parse(json.dumps(document(**seller))), by=STAFF)


def tenant(offer: tuple[str, str] | None = None, plan: str = "team", **fields: Any) -> Tenant:
    """Return a tenant of April with a plan of the catalog, which is published if it was not.

    ``offer`` is the seller and the currency that it chose; None: neither.
    """
    publish()
    row = rows.tenant(STARTS_AT, to=publishing.plan(plan), **fields)
    if offer:
        selling.assign(row.pk, selling.offer(*offer), "user:staff@seller.example")
    return row


def newest_plan(key: str) -> Plan:
    """Return the newest version of a plan."""
    return publishing.plan(key)
