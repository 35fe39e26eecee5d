"""Builds the charts of an address's page from the address's stored history. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from controlplane.console.charts import Bar, BarChart
from tenants.reading_history import Point, Series

# The length of a bar by span: the charts have room for about a hundred bars.
_BAR = {
    "1h": timedelta(minutes=1),
    "24h": timedelta(minutes=15),
    "7d": timedelta(hours=2),
    "30d": timedelta(hours=8),
}
_TICKS = 6  # about how many bars of a chart have their time below them
# Length of time in the URL -> words.
TITLES = {"1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}


@dataclass(frozen=True)
class Row:
    """The values of one time step: a bar in each chart, and a row of the table below the charts.

    ``depth`` (stored messages) and ``consumers`` (receivers) are None while they are not known.
    """

    label: str
    messages_in: int
    messages_out: int
    depth: int | None
    consumers: int | None


@dataclass(frozen=True)
class _Column:
    """One chart of the page: the field ``name`` of ``Row`` that it shows, its title and unit."""

    name: str
    title: str
    unit: str = "messages"


_COLUMNS = (
    _Column("messages_in", "Messages in"),
    _Column("messages_out", "Messages out"),
    _Column("depth", "Messages stored"),
    _Column("consumers", "Receivers", "receivers"),
)


@dataclass(frozen=True)
class Charts:
    """The charts of one address over one span, and the same values as table rows."""

    charts: Sequence[BarChart]
    rows: Sequence[Row]


def build(series: Series, span: str) -> Charts:
    """Return the charts of ``series``, the history of an address over ``span``, such as ``24h``.

    A bar covers one or more steps of the history. For messages in and out, its height is the sum
    over these steps; for stored messages and receivers, the highest value. A value that no step
    knows has no chart. Where only some bars are unknown, those are drawn as 0; the rows have None.
    """
    bar = _BAR[span]
    size = bar // series.step
    groups = [series.points[at : at + size] for at in range(0, len(series.points), size)]
    rows = [_row(group, span) for group in groups]
    every = max(1, len(rows) // _TICKS)
    tick = "%H:%M" if span in ("1h", "24h") else "%-d %b"
    charts = []
    for column in _COLUMNS:
        values = [getattr(row, column.name) for row in rows]
        if all(value is None for value in values):
            continue
        bars = [
            Bar(
                row.label,
                Decimal(value or 0),
                f"{groups[at][0].at:{tick}}" if at % every == every // 2 else "",
            )
            for at, (row, value) in enumerate(zip(rows, values, strict=True))
        ]
        chart_id = f"chart-{column.name.replace('_', '-')}"
        charts.append(BarChart(chart_id, f"{column.title}, last {TITLES[span]}", column.unit, bars))
    return Charts(charts, rows)


def _row(group: Sequence[Point], span: str) -> Row:
    def highest(name: str) -> int | None:
        return max((v for p in group if (v := getattr(p, name)) is not None), default=None)

    return Row(
        f"{group[0].at:%-d %b %H:%M}",
        sum(point.messages_in for point in group),
        sum(point.messages_out for point in group),
        highest("depth"),
        highest("consumers"),
    )
