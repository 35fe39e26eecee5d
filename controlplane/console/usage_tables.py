"""Charts and tables of usage: read from ``plans.usage``, shaped for the page. One query a meter."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from controlplane.console import charts, meters
from controlplane.console.charts import Bar, BarChart
from controlplane.console.meters import Shown
from controlplane.console.windows import Window
from plans import usage
from plans.usage import Figure, SeriesQuery


@dataclass(frozen=True)
class Panel:
    """One meter of a window: its chart and its total in the unit for people."""

    shown: Shown
    chart: BarChart
    total: str


@dataclass(frozen=True)
class Row:
    """One row of a table: what it is about, where it leads, one value for each meter."""

    label: str
    link: str
    values: Sequence[Decimal]


Series = Mapping[Shown, Mapping[datetime, int]]


def read(tenant_id: str, window: Window, space_id: str = "") -> Series:
    """Return {meter: {start of step: quantity}} of the window; empty when nothing was used."""
    found = {
        shown: dict(
            usage.series(
                tenant_id,
                SeriesQuery(
                    shown.meter,
                    window.starts_at,
                    window.ends_at,
                    window.step,
                    window.zone,
                    space_id,
                ),
            )
        )
        for shown in meters.SHOWN
    }
    return found if any(found.values()) else {}


def panels(series: Series, window: Window) -> list[Panel]:
    """Return a chart for each meter, one column a step, with or without usage."""
    return [
        Panel(shown, _chart(shown, quantities, window), _total(shown, quantities.values()))
        for shown, quantities in series.items()
    ]


def steps(series: Series, window: Window, link: Callable[[str], str]) -> list[Row]:
    """Return a row for each step that has usage; ``link`` makes a day's address from its key."""
    return [
        Row(
            step_label(step, window),
            link(step.date().isoformat()) if window.kind == "month" else "",
            [shown.amount(quantities.get(step, 0)) for shown, quantities in series.items()],
        )
        for step in window.steps()
        if any(step in quantities for quantities in series.values())
    ]


def breakdown(
    figures: Iterable[Figure], key: Callable[[Figure], str], words: Callable[[str], tuple[str, str]]
) -> list[Row]:
    """Return a row for each key (a space or an address); ``words`` gives its label and link."""
    grouped: dict[str, dict[str, int]] = {}
    for figure in figures:
        grouped.setdefault(key(figure), {})[figure.meter] = figure.quantity
    rows = [
        Row(*words(name), [shown.amount(found.get(shown.meter, 0)) for shown in meters.SHOWN])
        for name, found in grouped.items()
    ]
    return sorted(rows, key=lambda row: row.label)


def step_label(step: datetime, window: Window) -> str:
    """Return a step as ``Sat 21 Nov`` or ``14:00``."""
    return step.strftime("%a %-d %b" if window.kind == "month" else "%H:%M")


def _chart(shown: Shown, quantities: Mapping[datetime, int], window: Window) -> BarChart:
    starts = window.steps()
    bars = [
        Bar(step_label(step, window), shown.amount(quantities.get(step, 0)), _tick(step, n, window))
        for n, step in enumerate(starts)
    ]
    return BarChart(f"chart-{shown.meter}", f"{shown.title}, {window.title}", shown.unit, bars)


def _tick(step: datetime, place: int, window: Window) -> str:
    if window.kind == "month":
        return str(step.day) if step.day == 1 or step.day % 5 == 0 else ""
    return step.strftime("%H:%M") if place % 4 == 0 else ""


def _total(shown: Shown, quantities: Iterable[int]) -> str:
    total = 0
    for quantity in quantities:
        total = usage.merged(shown.meter, total, quantity)
    return f"{charts.words(shown.amount(total))} {shown.unit}"
