"""The page of semantics promises only what a test holds."""

import re
from collections import defaultdict
from pathlib import Path

from tests.support.source_tree import ROOT

NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_every_test_that_the_page_names_exists() -> None:
    named = set(NAMED.findall((ROOT / "docs/semantics.md").read_text()))
    files = defaultdict[str, list[Path]](list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        files[path.name].append(path)

    missing = {
        (file, test)
        for file, test in named
        if not any(f"def {test}(" in path.read_text() for path in files[file])
    }

    assert len(named) > 50
    assert missing == set()


def test_every_row_of_the_page_names_its_tests() -> None:
    text = (ROOT / "docs/semantics.md").read_text()
    rows = [line for line in text.splitlines() if re.match(r"\| (?!---|What \||Mistake)", line)]

    assert len(rows) > 40
    assert [row for row in rows if not NAMED.search(row.split("|")[-2])] == []
