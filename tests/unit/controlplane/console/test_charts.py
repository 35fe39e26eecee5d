"""Bar charts: scale, words for those who cannot see them, escaping."""

import xml.etree.ElementTree as ET
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controlplane.console import charts
from controlplane.console.charts import Bar, BarChart

SVG = "{http://www.w3.org/2000/svg}"
values = st.decimals(min_value=0, max_value=Decimal("1e18"), places=3)


def build(*amounts: int | str, title: str = "Messages in") -> BarChart:
    bars = [Bar(f"hour {n}", Decimal(amount), str(n)) for n, amount in enumerate(amounts)]
    return BarChart("in", title, "messages", bars)


def parsed(chart: BarChart) -> ET.Element:
    return ET.fromstring(charts.build_svg(chart))


def bar_heights(chart: BarChart) -> list[float]:
    return [
        float(r.get("height", "")) for r in parsed(chart).iter("rect") if r.get("class") == "bar"
    ]


def test_bars_are_proportional_to_their_values() -> None:
    low, high = bar_heights(build(25, 100))

    assert high == pytest.approx(4 * low, abs=0.5)


def test_the_highest_value_of_a_round_scale_fills_the_plot() -> None:
    *_, high = bar_heights(build(1, 100))

    assert high == charts.HEIGHT - 10 - 24


def test_a_little_is_seen_and_nothing_is_not() -> None:
    nothing, little, _ = bar_heights(build(0, 1, 1_000_000))

    assert nothing == 0
    assert little >= 2


@given(st.lists(values, min_size=1, max_size=40))
def test_every_bar_stays_inside_the_plot(amounts: list[Decimal]) -> None:
    chart = BarChart("x", "t", "u", [Bar(str(n), amount) for n, amount in enumerate(amounts)])

    for rect in parsed(chart).iter("rect"):
        x, y, width, height = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + width <= charts.WIDTH + 0.3
        assert y + height <= charts.HEIGHT - 24 + 0.3


@given(values)
def test_nice_ceiling_is_at_or_above_and_not_far_above(value: Decimal) -> None:
    ceiling = charts.nice_ceiling(value)

    assert ceiling >= value
    assert value == 0 or ceiling <= value * Decimal("2.5")


@pytest.mark.parametrize(
    ("value", "ceiling"),
    [(0, 1), (1, 1), ("1.1", 2), (21, 25), (26, 50), (51, 100), ("0.003", "0.005")],
)
def test_nice_ceiling_of_known_values(value: int | str, ceiling: int | str) -> None:
    assert charts.nice_ceiling(Decimal(value)) == Decimal(ceiling)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (950, "950"), (1000, "1k"), (2500, "2.5k"), (10_000_000, "10M"), ("0.25", "0.25")],
)
def test_compact_says_it_short(value: int | str, text: str) -> None:
    assert charts.compact(Decimal(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        ("1234.5", "1,234.5"),
        ("0.1234", "0.123"),
        (10, "10"),
        ("0.000000015", "< 0.001"),
        ("0.00", "0"),
    ],
)
def test_words_groups_thousands_and_cuts_decimals(value: int | str, text: str) -> None:
    assert charts.words(Decimal(value)) == text


def test_a_chart_says_in_words_what_it_shows() -> None:
    root = parsed(build(5, 40))

    labelled = (root.get("aria-labelledby") or "").split()
    texts = {element.get("id"): element.text for element in root if element.get("id")}
    assert [texts[name] for name in labelled] == [
        "Messages in",
        "2 columns; the highest is hour 1 with 40 messages.",
    ]
    assert [g.findtext("title") for g in root.iter("g")] == [
        "hour 0: 5 messages",
        "hour 1: 40 messages",
    ]


def test_an_empty_chart_says_so() -> None:
    assert charts.describe(build(0, 0)) == "Nothing in these 2 columns."


def test_words_from_outside_are_escaped() -> None:
    svg = charts.build_svg(build(1, title="<script>alert(1)</script>"))

    assert "<script>" not in svg


@given(st.decimals(min_value=0, max_value=10**14, places=6))
@example(Decimal("0.000000015"))
@example(Decimal("0.021"))
@example(Decimal("0.21"))
def test_the_axis_tells_three_true_figures_that_fit_beside_it(value: Decimal) -> None:
    drawn = parsed(BarChart("c", "Stored", "GiB", [Bar("now", value)]))

    figures = [text for text in drawn.iter("text") if text.get("text-anchor") == "end"]
    words = [str(text.text) for text in figures]
    assert len(set(words)) == 3
    assert not [word for word in words if "<" in word]
    # The style sheet's 17 px on a narrow screen; a digit is about 0.62 of that wide.
    assert all(
        len(w) * 17 * 0.62 <= float(t.get("x", "0")) for w, t in zip(words, figures, strict=True)
    )
