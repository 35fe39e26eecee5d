"""Divides the costs of a tenant's month by space or by a label.

The number of queries does not depend on the number of spaces. The portal's usage page and the API
call this module.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from controlplane.core.errors import WaypostError
from plans.invoicing import corrections, document, forecasting, previewing, space_costs
from plans.invoicing.previewing import Preview
from plans.models import Invoice
from plans.rating.periods import Period
from tenants.models import AddressSpace, Tenant


class Cause(StrEnum):
    """What caused the costs of a row."""

    SPACE = "space"
    LABEL = "label"  # the spaces with one value of the chosen label
    UNLABELED = "unlabeled"  # the spaces without the chosen label
    SHARED = "shared"  # no space, such as the fee of the plan


class CostRow(NamedTuple):
    """The net amount of one cause. ``name``: the space, or ``key=value`` of the label, or words."""

    cause: Cause
    name: str
    amount_minor: int


@dataclass(frozen=True)
class Costs:
    """The costs of a month.

    * ``preview``: the running period; None for another month, or if the period cannot be priced.
    * ``forecast_minor``: the likely total of the running period with tax; None without ``preview``,
      or if too little of the period is known (``forecasting``).
    * ``least_minor``: what the running period costs at least with tax; only without a forecast.
    * ``keys``: the keys of the labels of the tenant's spaces. ``key``: the chosen one, or ''.
    * ``rows``: net amounts by space, or by the value of the chosen label.
    """

    currency: str
    preview: Preview | None
    forecast_minor: int | None
    least_minor: int | None
    keys: Sequence[str]
    key: str
    rows: Sequence[CostRow]

    @property
    def net_minor(self) -> int:
        return sum(row.amount_minor for row in self.rows)


def of_month(tenant: Tenant, month: Period, key: str, now: datetime) -> Costs | None:
    """Return the costs of ``month``, a month of the tenant; None if nothing of it is priced.

    ``key`` is the key of a label by which ``rows`` are divided. '', or a key that no space has,
    divides them by space.
    """
    preview: Preview | None = None
    if month.starts_at <= now < month.ends_at:
        # Without a preview, such as for lack of a plan, invoices of the month may still exist.
        with suppress(WaypostError):
            preview = previewing.preview(tenant, now)
    invoices = (
        Invoice.valid()
        .filter(tenant=tenant, starts_at__gte=month.starts_at, ends_at__lte=month.ends_at)
        .exclude(document="")
    )
    if preview:
        invoices = invoices.exclude(state__in=corrections.UNPRICED)
    documents = [document.loaded(text) for text in invoices.values_list("document", flat=True)]
    documents += [*preview.estimates, preview.document] if preview else []
    if not documents:
        return None
    spaces = list(AddressSpace.objects.filter(tenant=tenant).only("id", "name", "labels"))
    keys = sorted({name for space in spaces for name in space.labels})
    chosen = key if key in keys else ""
    forecast = forecasting.from_preview(tenant, preview, now) if preview else None
    return Costs(
        documents[0]["currency"],
        preview,
        forecast,
        forecasting.least_minor(tenant, preview) if preview and forecast is None else None,
        keys,
        chosen,
        _rows(space_costs.divide(documents), spaces, chosen),
    )


def _rows(costs: space_costs.SpaceCosts, spaces: Sequence[AddressSpace], key: str) -> list[CostRow]:
    """Return a row for each space, or for each value of the label ``key``, highest amount first."""
    causes = {space.pk: _cause(space, key) for space in spaces}
    sums: Counter[tuple[Cause, str]] = Counter()
    for space_id, amount in costs.by_space.items():
        sums[causes.get(space_id, (Cause.SPACE, space_id))] += amount
    rows = [CostRow(*cause, amount) for cause, amount in sums.items()]
    shared = CostRow(Cause.SHARED, "Plan and other costs that no space caused", costs.shared_minor)
    return [*sorted(rows, key=lambda row: -row.amount_minor), shared]


def _cause(space: AddressSpace, key: str) -> tuple[Cause, str]:
    if not key:
        return Cause.SPACE, space.name
    if key not in space.labels:
        return Cause.UNLABELED, f"Without the label {key}"
    return Cause.LABEL, f"{key}={space.labels[key]}"
