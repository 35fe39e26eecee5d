"""The worked examples of docs/billing-examples.md, as the page states them."""

import re
from collections.abc import Iterable

from plans.rating import money
from tests.support import source_tree

Rows = list[tuple[str, str]]
PAGE = (source_tree.ROOT / "docs/billing-examples.md").read_text()


def numbers() -> set[int]:
    """Return the numbers of all examples."""
    return {int(number) for number in re.findall(r"^## (\d+)\.", PAGE, re.M)}


def written(number: int) -> Rows:
    """Return the rows of the table of one example on the page."""
    (section,) = re.findall(rf"^## {number}\. .*?(?=^## |\Z)", PAGE, re.M | re.S)
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.M)
    return [row for row in rows if row[0] not in ("Line", "---")]


def shown(rows: Iterable[tuple[str, int]]) -> Rows:
    """Return rows with amounts of two decimals, as the page writes them."""
    return [(label, f"{money.to_major(amount, 'EUR')}") for label, amount in rows]
