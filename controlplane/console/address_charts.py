"""The charts of an address page, from its history. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
_TICKS = 6  # a time stands below every such part of the axis
TITLES = {"1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}


@dataclass(frozen=True)
class Row:
    """One bar of every chart, as a row of the table below them. None: not known."""

    label: str
    messages_in: int
    messages_out: int
    depth: int | None
    consumers: int | None


@dataclass(frozen=True)
class _Column:
    """A value of ``Row`` that has a chart."""

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
    """The charts of one span, and the same figures as rows; ``unit`` is the length of a bar."""

    charts: Sequence[BarChart]
    rows: Sequence[Row]


def build(series: Series, span: str) -> Charts:
    """Return the charts of a history. Values that the engines cannot know have no chart.

    A bar of messages is their sum. A bar of another value is the highest of its steps.
    """
    bar = _BAR[span]
    size = bar // series.step
    groups = [series.points[at : at + size] for at in range(0, len(series.points), size)]
    rows = [_row(group, span) for group in groups]
    every = max(1, len(rows) // _TICKS)
    charts = []
    for column in _COLUMNS:
        values = [getattr(row, column.name) for row in rows]
        if all(value is None for value in values):
            continue
        bars = [
            Bar(
                row.label,
                Decimal(value or 0),
                _tick(groups[at][0].at, span) if at % every == every // 2 else "",
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


def _tick(at: datetime, span: str) -> str:
    return f"{at:%H:%M}" if span in ("1h", "24h") else f"{at:%-d %b}"
