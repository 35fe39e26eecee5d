"""The charts of the page Pipeline show what the history has, and nothing without runs."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from controlplane.console import pipeline_charts
from controlplane.pipeline_reads import Step

AT = datetime(2026, 11, 21, tzinfo=UTC)


def test_without_a_run_there_are_no_charts() -> None:
    assert pipeline_charts.build([Step(AT)], "24h") is None


def test_each_chart_and_the_table_have_the_same_values() -> None:
    busy = Step(AT, 3, 1, 500, 4, 2, 30.26, timedelta(seconds=90))
    steps = [busy, Step(AT + timedelta(hours=1))]

    found = pipeline_charts.build(steps, "24h")

    assert found is not None
    assert [row.label for row in found.rows] == ["21 Nov 00:00", "21 Nov 01:00"]
    expected = ["1.5", "500", "4", "2", "30.3", "1"]
    assert list(found.rows[0].values) == [Decimal(value) for value in expected]
    assert [chart.bars[0].value for chart in found.charts] == list(found.rows[0].values)
    assert [bar.value for chart in found.charts for bar in chart.bars[1:]] == [0] * 6
    assert len(found.titles) == len(found.charts) == 6


def test_days_are_named_without_hours() -> None:
    found = pipeline_charts.build([Step(AT, 1)], "7d")

    assert found is not None
    assert found.rows[0].label == "21 Nov"
