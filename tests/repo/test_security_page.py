"""The page on security has every item of the ASVS, and names only tests and settings that exist."""

import re
from collections import Counter

from django.conf import settings

from tests.support.source_tree import ROOT, list_files

PAGE = (ROOT / "docs/security.md").read_text()
TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")
SETTING = re.compile(r"`([A-Z][A-Z_0-9]+)`")
FILE = re.compile(
    r"`((?:[a-z_]+/)*[\w.-]+\.(?:md|py|json|toml|html)|controlplane/console/static/\w+)`"
)
ROW = re.compile(r"^\| ([\d., ]+) \| (.*)\|$", re.M)
# Section -> number of its items of level 1 or 2, in ASVS 5.0.0. They are counted from 1.
_COUNTS = """
1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2
4.1:3 4.2:1 4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3
6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2
10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1
12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3
15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
"""
ITEMS = {section: int(n) for pair in _COUNTS.split() for section, n in [pair.split(":")]}


def rows() -> list[tuple[str, list[str]]]:
    """Return each row of the item tables: its items, and its other cells."""
    return [
        (items, [cell.strip() for cell in cells.split("|")]) for items, cells in ROW.findall(PAGE)
    ]


def test_every_item_of_level_2_is_on_the_page_once() -> None:
    listed = Counter(item for items, _ in rows() for item in items.split(", "))
    wanted = [f"{section}.{n + 1}" for section, count in ITEMS.items() for n in range(count)]

    assert len(wanted) == 253
    assert listed == Counter(wanted)


def test_every_item_that_is_met_names_what_keeps_it_so() -> None:
    unproven = [
        items
        for items, cells in rows()
        if len(cells) == 3  # what it asks for, whether it is met, by what
        and cells[1] in ("yes", "partly")
        and not (TEST.search(cells[2]) or SETTING.search(cells[2]) or FILE.search(cells[2]))
    ]
    states = Counter(cells[1] for _, cells in rows() if len(cells) == 3)

    assert unproven == []
    assert set(states) == {"yes", "partly", "no"}


def test_every_test_that_the_page_names_exists() -> None:
    files = [path for path in list_files(".py") if path.name.startswith("test_")]
    texts = {(path.name, text) for path in files for text in [path.read_text()]}

    named = set(TEST.findall(PAGE))

    missing = [
        (file, test)
        for file, test in sorted(named)
        if not any(name == file and f"def {test}(" in text for name, text in texts)
    ]
    assert len(named) > 100
    assert missing == []


def test_every_setting_and_file_that_the_page_names_exists() -> None:
    unknown = [name for name in SETTING.findall(PAGE) if not hasattr(settings, name)]
    unknown += [name for name in FILE.findall(PAGE) if not (ROOT / name).exists()]

    assert unknown == []
