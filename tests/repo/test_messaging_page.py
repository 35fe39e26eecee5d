"""The page for clients promises only what a test holds."""

import re

from tests.support.source_tree import ROOT

FOLDERS = ("tests/suites/messaging", "tests/suites/e2e")


def test_every_test_that_the_page_names_exists() -> None:
    page = (ROOT / "docs/messaging.md").read_text()

    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", page))

    assert len(named) > 10
    assert {name for name in named if not is_there(*name)} == set()


def is_there(file: str, test: str) -> bool:
    found = [path for folder in FOLDERS if (path := ROOT / folder / file).exists()]
    return any(f"def {test}(" in path.read_text() for path in found)
