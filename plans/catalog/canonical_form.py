"""The canonical form of a catalog: equal catalogs have equal documents, also across versions."""

from typing import Any

from plans.catalog.definitions import THROTTLE_PERCENT


def leave_out_defaults(document: dict[str, Any]) -> None:
    """Remove the fields of a canonical document that came later and have their default.

    So publishing a YAML text that was published before the fields existed makes no new version.
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
