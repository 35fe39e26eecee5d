"""Keeps a catalog's canonical document the same although later versions of Waypost added fields."""

from typing import Any

from plans.catalog.definitions import THROTTLE_PERCENT


def leave_out_defaults(document: dict[str, Any]) -> None:
    """Remove the fields below from ``document``, in place, where they have their default.

    Versions of Waypost after the first one added these fields. A YAML text that was published
    before then, and is published again, so makes no new version of the catalog.
    """
    for row in (document["seller"], *document["sellers"].values()):
        if row["tax_regime"] == "flat":
            del row["tax_regime"]
    optional = (
        ([document], ("sellers",)),
        ([document["seller"], *document["sellers"].values()], ("other_currencies",)),
        (document["plans"].values(), ("trial_days", "currencies")),
        ([*document["space_plans"].values(), *document["address_plans"].values()],
         ("hour_prices",)),
    )  # fmt: skip
    for plan in document["plans"].values():
        if plan["throttle_percent"] == THROTTLE_PERCENT:
            del plan["throttle_percent"]
    for rows, names in optional:
        for row in rows:
            for name in names:
                if not row[name]:
                    del row[name]
