"""Shows the amounts of a limit in the unit that its title names, for tables."""

from controlplane.rest_client import Json
from plans.quotas import resources
from plans.rating import money

_AMOUNTS = ("used", "landed", "tail", "limit", "override")


def in_unit(row: Json) -> Json:
    """Return a row of a list of quotas with its amounts as texts: hours instead of milliseconds.

    The spend cap is money. None, which is no limit, stays None.
    """
    shown = {name: _words(row, row[name]) for name in _AMOUNTS if row.get(name) is not None}
    return {**row, **shown}


def _words(row: Json, amount: int) -> str:
    if row["resource"] == resources.SPEND:
        return money.display(amount, row["unit"])
    return resources.quantity_words(row["resource"], amount)
