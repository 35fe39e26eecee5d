"""Builds the charts and tables of the usage page.

``read`` takes one query for each table of sums. The other functions only arrange what it returns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from controlplane.console import charts, meters
from controlplane.console.charts import Bar, BarChart
from controlplane.console.meters import Shown
from controlplane.console.windows import Window
from plans.usage import reading
from plans.usage.reading import Figure, SeriesQuery


@dataclass(frozen=True)
class Panel:
    """One meter in a window: its chart, and its total as text with the unit.

    The total of a peak meter is the highest value.
    """

    shown: Shown
    chart: BarChart
    total: str


@dataclass(frozen=True)
class Row:
    """One table row: its label, the URL of its details or '', a value for each shown meter."""

    label: str
    link: str
    values: Sequence[Decimal]


Series = Mapping[Shown, Mapping[datetime, int]]


def read(
    tenant_id: str,
    window: Window,
    space_id: str = "",
    address: str = "",
    wanted: Sequence[Shown] = meters.SHOWN,
) -> Series:
    """Return {shown meter: {start of step: quantity in base units}} of the tenant's usage.

    Covers the space ``space_id``, or all spaces if it is empty; likewise ``address``, a name. Only
    the meters ``wanted`` are read.
    Steps without usage are missing. If the window has no usage of any meter, the result is {}.
    """
    query = SeriesQuery(
        "", window.starts_at, window.ends_at, window.step, window.zone, space_id, address
    )
    series = reading.every_series(tenant_id, query)
    found = {shown: series[shown.meter] for shown in wanted}
    # Without any usage, the page shows a text instead of empty charts.
    return found if any(found.values()) else {}


def panels(series: Series, window: Window) -> list[Panel]:
    """Return a panel for each meter of ``series``; a step without usage is a bar of height 0."""
    return [
        Panel(shown, _chart(shown, quantities, window), _total(shown, quantities.values()))
        for shown, quantities in series.items()
    ]


def steps(series: Series, window: Window, link: Callable[[str], str]) -> list[Row]:
    """Return a table row for each step that has usage of any meter, oldest first.

    ``link`` returns the URL of a day's page; it gets the day as text (``2026-11-21``). A row of an
    hour has no link.
    """
    return [
        Row(
            step_label(step, window),
            # Only a day has a page of its own; an hour has none.
            link(step.date().isoformat()) if window.step == "day" else "",
            [shown.amount(quantities.get(step, 0)) for shown, quantities in series.items()],
        )
        for step in window.steps()
        if any(step in quantities for quantities in series.values())
    ]


def breakdown(
    figures: Iterable[Figure],
    key: Callable[[Figure], str],
    describe: Callable[[str], tuple[str, str]],
    wanted: Sequence[Shown] = meters.SHOWN,
) -> list[Row]:
    """Return a table row for each group of ``figures``, sorted by label.

    ``key`` returns the group of a figure: its space or its address. ``describe`` returns the label
    and the URL ('' for none) of a group. A group has at most one figure of each meter: figures are
    not added up. Only the meters ``wanted`` have a column.
    """
    grouped: dict[str, dict[str, int]] = {}
    for figure in figures:
        grouped.setdefault(key(figure), {})[figure.meter] = figure.quantity
    # Every row has a value for each column, so a meter without a figure is zero.
    rows = [
        Row(*describe(name), [shown.amount(found.get(shown.meter, 0)) for shown in wanted])
        for name, found in grouped.items()
    ]
    return sorted(rows, key=lambda row: row.label)


def step_label(step: datetime, window: Window) -> str:
    """Return the label of a step: ``Sat 21 Nov`` in a month, ``14:00`` in a day."""
    return step.strftime("%a %-d %b" if window.step == "day" else "%H:%M")


def _chart(shown: Shown, quantities: Mapping[datetime, int], window: Window) -> BarChart:
    starts = window.steps()
    bars = [
        Bar(step_label(step, window), shown.amount(quantities.get(step, 0)), _tick(step, n, window))
        for n, step in enumerate(starts)
    ]
    return BarChart(f"chart-{shown.meter}", f"{shown.title}, {window.title}", shown.unit, bars)


# Only some columns get a label on the axis: there is no room for all.
def _tick(step: datetime, position: int, window: Window) -> str:
    if window.step == "day":
        return str(step.day) if step.day == 1 or step.day % 5 == 0 else ""
    return step.strftime("%H:%M") if position % 4 == 0 else ""


def _total(shown: Shown, quantities: Iterable[int]) -> str:
    total = 0
    # Not sum(): ``merged`` adds quantities, but takes the highest of peaks.
    for quantity in quantities:
        total = reading.merged(shown.meter, total, quantity)
    return charts.counted(shown.amount(total), shown.unit)
