"""Builds the charts of the operator's page Pipeline from the history of its runs. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from controlplane.console.charts import Bar, BarChart
from controlplane.pipeline_reads import Step

# Span in the URL -> words.
TITLES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days"}
_TICKS = 6  # about how many bars of a chart have their time below them
_TENTH = Decimal("0.1")


@dataclass(frozen=True)
class _Column:
    """One chart: its title, its unit, and its value in a step."""

    id: str
    title: str
    unit: str
    value: Callable[[Step], Decimal]


def _rounded(value: float) -> Decimal:
    return Decimal(value).quantize(_TENTH)


_COLUMNS = (
    _Column(
        "lag",
        "Longest lag",
        "minutes",
        lambda step: _rounded(step.lag.total_seconds() / 60 if step.lag else 0),
    ),
    _Column("samples", "New samples", "samples", lambda step: Decimal(step.n_samples)),
    _Column("files", "New files", "files", lambda step: Decimal(step.n_files)),
    _Column("quarantined", "Quarantined", "samples", lambda step: Decimal(step.n_quarantined)),
    _Column("cost", "Processor time", "seconds", lambda step: _rounded(step.cpu_seconds)),
    _Column("failed", "Failed runs", "runs", lambda step: Decimal(step.n_failed)),
)


@dataclass(frozen=True)
class Row:
    """One step in the table below the charts; ``values`` are in the order of the charts."""

    label: str
    n_runs: int
    values: Sequence[Decimal]


@dataclass(frozen=True)
class Charts:
    """The charts of a span, and the same values as table rows; ``titles`` names the columns."""

    charts: Sequence[BarChart]
    titles: Sequence[str]
    rows: Sequence[Row]


def build(steps: Sequence[Step], span: str) -> Charts | None:
    """Return the charts of ``steps``, a history over ``span``; None if no job ran in it."""
    if not any(step.n_runs for step in steps):
        return None
    # Only a span of 24 hours has steps shorter than a day, so only its labels need the time.
    label, tick = ("%-d %b %H:%M", "%H:%M") if span == "24h" else ("%-d %b", "%-d %b")
    rows = [
        Row(f"{step.at:{label}}", step.n_runs, [column.value(step) for column in _COLUMNS])
        for step in steps
    ]
    every = max(1, len(steps) // _TICKS)
    ticks = [
        f"{step.at:{tick}}" if at % every == every // 2 else "" for at, step in enumerate(steps)
    ]
    charts = [
        BarChart(
            f"chart-{column.id}",
            f"{column.title}, last {TITLES[span]}",
            column.unit,
            [Bar(row.label, row.values[at], tick) for row, tick in zip(rows, ticks, strict=True)],
        )
        for at, column in enumerate(_COLUMNS)
    ]
    return Charts(charts, [f"{column.title} ({column.unit})" for column in _COLUMNS], rows)
