"""The page for clients promises only what a test holds."""

import re

from tests.support.source_tree import ROOT

NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")
FOLDERS = ("tests/suites/messaging", "tests/suites/e2e")


def test_every_test_that_the_page_names_exists() -> None:
    page = (ROOT / "docs/messaging.md").read_text()

    named = set(NAMED.findall(page))

    assert len(named) > 10
    assert {name for name in named if not is_there(*name)} == set()


def test_every_cell_of_the_refusals_names_its_test() -> None:
    """A cell without a promise is empty, and so is the cell of its test."""
    page = (ROOT / "docs/messaging.md").read_text()
    _, _, table = page.partition("| What happened |")
    lines = table.partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    assert len(rows) > 20
    assert {len(row) for row in rows} == {5}
    unpaired = [
        row[0]
        for row in rows
        for promise, tests in ((row[1], row[3]), (row[2], row[4]))
        if bool(promise) != bool(NAMED.findall(tests))
    ]
    assert unpaired == []


def is_there(file: str, test: str) -> bool:
    found = [path for folder in FOLDERS if (path := ROOT / folder / file).exists()]
    return any(f"def {test}(" in path.read_text() for path in found)
