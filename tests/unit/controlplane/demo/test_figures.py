"""The page of figures: each section is replaced alone."""

from pathlib import Path

from controlplane.demo import figures
from controlplane.demo.figures import Figure

FAST = Figure("a thing", 1.0, "s", 2, "make bench")
SLOW = Figure("a thing", 3.0, "s", 2, "make bench")


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"

    figures.write(page, "One", [SLOW])
    figures.write(page, "Two", [FAST])
    figures.write(page, "One", [FAST])
    first = page.read_text()
    figures.write(page, "One", [FAST])

    assert page.read_text() == first
    assert first.startswith("# Performance\n\n## One\n\nMeasured")
    assert first.count("| a thing | 1.0 s | 2 s | `make bench` |") == 2
    assert "**over**" not in first


def test_what_is_over_says_so() -> None:
    assert SLOW.row() == "| a thing | 3.0 s **over** | 2 s | `make bench` |"
    assert (SLOW.is_over, FAST.is_over) == (True, False)


def test_a_count_is_a_whole_number() -> None:
    assert Figure("calls", 0, "", 0, "make").row() == "| calls | 0 | 0 | `make` |"
    assert Figure("calls", 12, "", 0, "make").row() == "| calls | 12 **over** | 0 | `make` |"


def test_a_note_says_what_was_measured(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"

    figures.write(page, "One", [FAST], "Of small things.")
    figures.write(page, "Two", [FAST])

    one, two = page.read_text().split("## Two")
    assert ". Of small things.\n\n| What |" in one
    assert "small" not in two
