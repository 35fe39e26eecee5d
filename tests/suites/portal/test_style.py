"""The style sheet: contrast of every text and control color (WCAG 2.2, 1.4.3 and 1.4.11)."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from controlplane import console

TEXT, CONTROL = 4.5, 3.0
PAIRS = [
    *[
        ("text", ground, TEXT)
        for ground in (
            "page",
            "surface",
            "sunken",
            "accent-soft",
            "good-soft",
            "warn-soft",
            "bad-soft",
            "code",
        )
    ],
    *[
        ("muted", ground, TEXT)
        for ground in (
            "page",
            "surface",
            "sunken",
            "accent-soft",
            "good-soft",
            "warn-soft",
            "bad-soft",
        )
    ],
    *[
        ("accent", ground, TEXT)
        for ground in ("page", "surface", "good-soft", "warn-soft", "bad-soft")
    ],
    ("accent-strong", "accent-soft", TEXT),
    ("accent-strong", "surface", TEXT),
    ("on-accent", "accent", TEXT),
    ("on-accent", "accent-strong", TEXT),
    ("on-bad", "bad", TEXT),
    ("good", "good-soft", TEXT),
    ("warn", "warn-soft", TEXT),
    ("bad", "bad-soft", TEXT),
    ("bad", "surface", TEXT),
    ("control", "surface", CONTROL),
    ("bar", "surface", CONTROL),
    ("accent", "surface", CONTROL),
]


def sheet() -> str:
    found = finders.find("console/console.css")
    assert found
    return Path(str(found)).read_text()


def tokens(theme: str) -> dict[str, str]:
    """Return {name: #rrggbb}; the first :root block is light, the second one dark."""
    light, dark = re.findall(r":root \{(.*?)\}", sheet(), re.DOTALL)
    block = light if theme == "light" else dark
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground", "least"), PAIRS)
def test_colors_have_enough_contrast(theme: str, text: str, ground: str, least: float) -> None:
    colors = tokens(theme)

    assert contrast(colors[text], colors[ground]) >= least


def test_contrast_of_black_on_white_is_the_known_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_both_themes_name_the_same_colors() -> None:
    assert tokens("light").keys() == tokens("dark").keys()


def test_the_sheet_loads_nothing() -> None:
    assert "@import" not in sheet()
    assert "url(" not in sheet()


def test_tabs_wrap_where_there_is_no_room() -> None:
    """A row of links that scrolls shows scrollbars of its own."""
    rule = re.search(r"\.tabs \{([^}]*)\}", sheet())

    assert rule
    assert "flex-wrap: wrap" in rule[1]
    assert "overflow" not in rule[1]


def test_no_summary_loses_its_padding() -> None:
    """`.pad` is for what something follows within a card; a closed summary is followed by none."""
    templates = Path(console.__file__).parent / "templates"

    found = [
        path.name
        for path in templates.rglob("*.html")
        if re.search(r'<summary[^>]*class="[^"]*\bpad\b', path.read_text())
    ]

    assert found == []


def test_a_long_name_does_not_widen_the_page() -> None:
    text = sheet()
    body = re.search(r"\nbody \{(.*?)\n\}", text, re.DOTALL)

    assert body
    assert "overflow-wrap: anywhere" in body[1]
    assert re.search(r"\ntbody th \{[^}]*overflow-wrap: anywhere", text)
