"""Draws the bar charts of the usage page and of address pages as inline SVG. Pure.

The style sheet sets the colors. For screen readers, each chart has a title and a description, each
bar has a title with its value, and the page shows the same figures as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# In units of the SVG view box; the style sheet scales the chart to the width of its column.
WIDTH, HEIGHT = 440, 176
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 6, 10, 24
_PLOT_WIDTH = WIDTH - _LEFT - _RIGHT
_PLOT_HEIGHT = HEIGHT - _TOP - _BOTTOM
# Factors of a power of ten for the top of an axis. The last one is for values above 5 times it.
_STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
_LEAST = Decimal("0.001")  # the smallest step that ``words`` prints
_LEAST_TOP = Decimal("0.01")  # the lowest top of an axis
_SUFFIXES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))  # the largest first


@dataclass(frozen=True)
class Bar:
    """One bar: ``label`` names its time step in texts, ``value`` is 0 or more.

    ``tick`` is the text below the bar on the axis; empty for most bars.
    """

    label: str
    value: Decimal
    tick: str = ""


@dataclass(frozen=True)
class BarChart:
    """A bar chart that ``build_svg`` draws.

    ``id`` is unique on the page. ``unit`` follows each value in the bars' tooltips.
    """

    id: str
    title: str
    unit: str
    bars: Sequence[Bar]


def counted(amount: Decimal, unit: str) -> str:
    """Return an amount with its unit, such as ``1,250 messages``; a single one is ``1 message``."""
    return f"{words(amount)} {unit.removesuffix('s') if amount == 1 else unit}"


def build_svg(chart: BarChart) -> SafeString:
    """Return the chart as an ``<svg>`` element with title and description; texts are escaped."""
    top = _axis_top(max((bar.value for bar in chart.bars), default=Decimal(0)))
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-t {}-d">'
        '<title id="{}-t">{}</title><desc id="{}-d">{}</desc>{}{}{}</svg>',
        WIDTH,
        HEIGHT,
        chart.id,
        chart.id,
        chart.id,
        chart.title,
        chart.id,
        describe(chart),
        _grid(top),
        _bars(chart, top),
        _ticks(chart.bars),
    )


def describe(chart: BarChart) -> str:
    """Return a sentence for screen readers: the number of bars, and the highest if one is not 0."""
    if not any(bar.value for bar in chart.bars):
        return f"Nothing in these {len(chart.bars)} columns."
    high = max(chart.bars, key=lambda bar: bar.value)
    highest = f"{high.label} with {words(high.value)} {chart.unit}"
    return f"{len(chart.bars)} columns; the highest is {highest}."


def nice_ceiling(value: Decimal) -> Decimal:
    """Return the smallest 1, 2, 2.5 or 5 times a power of ten that is >= ``value``.

    Zero and negative values give 1.
    """
    if value <= 0:
        return Decimal(1)
    power = Decimal(10) ** (value.adjusted())
    return next(step * power for step in _STEPS if step * power >= value)


def _axis_top(value: Decimal) -> Decimal:
    """Return the value at the top of the axis: a round number that is at least ``value``.

    Half of the result is the label of the middle grid line, so ``words`` must print that half
    without rounding.
    """
    top = max(nice_ceiling(value), _LEAST_TOP)
    return top if top / 2 % _LEAST == 0 else top * 2


def words(value: Decimal) -> str:
    """Return a number as text, with thousands separators and at most three decimals: ``1,250.5``.

    Zeros at the end of the decimals are left out. A value between 0 and 0.001 becomes ``< 0.001``.
    """
    if 0 < value < _LEAST:
        return f"< {_LEAST}"
    step = Decimal(1) if value == value.to_integral_value() else _LEAST
    text = f"{value.quantize(step):,f}"
    # Only after a decimal point: zeros at the end of a whole number count.
    return text.rstrip("0").rstrip(".") if "." in text else text


def compact(value: Decimal) -> str:
    """Return a number in thousands, millions and so on, for an axis: ``950``, ``2.5k``, ``10M``.

    Below 1,000T, the label of a grid line has at most five characters. Any other ``value`` keeps
    up to three decimals, so its text may be longer.
    """
    for size, suffix in _SUFFIXES:
        if value >= size:
            return words(value / size) + suffix
    return words(value)


def _grid(top: Decimal) -> SafeString:
    # Three lines: zero, the middle and the top. SVG's y axis points down.
    levels = [(top * share / 2, _TOP + _PLOT_HEIGHT * (2 - share) / 2) for share in (0, 1, 2)]
    return format_html_join(
        "",
        '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (
                "axis" if level == 0 else "grid-line",
                _LEFT,
                WIDTH - _RIGHT,
                y,
                y,
                _LEFT - 6,
                y + 4,
                compact(level),
            )
            for level, y in levels
        ),
    )


def _bars(chart: BarChart, top: Decimal) -> SafeString:
    # ``max``: a chart without bars must not divide by zero.
    slot = Decimal(_PLOT_WIDTH) / max(len(chart.bars), 1)
    # The title of a group is its tooltip. The invisible rectangle "hit" has the height of the plot,
    # so that the tooltip of a low bar appears above the bar too.
    return format_html_join(
        "",
        '<g><title>{}</title><rect class="hit" x="{}" y="{}" width="{}" height="{}"/>{}</g>',
        (
            (
                f"{bar.label}: {words(bar.value)} {chart.unit}",
                _round(_LEFT + slot * position),
                _TOP,
                _round(slot),
                _PLOT_HEIGHT,
                _bar(slot, position, bar.value / top),
            )
            for position, bar in enumerate(chart.bars)
        ),
    )


def _bar(slot: Decimal, position: int, share: Decimal) -> SafeString:
    height = share * _PLOT_HEIGHT
    if share > 0:
        height = max(height, Decimal(2))  # small values must stay visible
    return format_html(
        '<rect class="bar" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>',
        _round(_LEFT + slot * (position + Decimal("0.12"))),
        _round(_TOP + _PLOT_HEIGHT - height),
        _round(slot * Decimal("0.76")),
        _round(height),
    )


def _ticks(bars: Sequence[Bar]) -> SafeString:
    slot = Decimal(_PLOT_WIDTH) / max(len(bars), 1)
    return format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        (
            (_round(_LEFT + slot * (position + Decimal("0.5"))), HEIGHT - 7, bar.tick)
            for position, bar in enumerate(bars)
            if bar.tick
        ),
    )


def _round(value: Decimal) -> Decimal:
    # A tenth of a unit is less than a pixel. Short numbers keep the page small.
    return value.quantize(Decimal("0.1"), rounding=ROUND_CEILING)
