"""Keeps measured figures with their limits, and writes the page that shows them."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_TITLE = "# Performance\n"


@dataclass(frozen=True)
class Figure:
    """One measured value with its unit and its upper limit.

    ``what`` describes it; ``command`` is the command that measures it.
    """

    what: str
    value: float
    unit: str
    limit: float
    command: str

    @property
    def is_over(self) -> bool:
        return self.value > self.limit

    def row(self) -> str:
        """Return the figure as a line of a Markdown table; a figure without a unit is a count."""
        mark = " **over**" if self.is_over else ""
        value = f"{self.value:.1f} {self.unit}" if self.unit else f"{self.value:g}"
        limit = f"{self.limit:g} {self.unit}".rstrip()
        return f"| {self.what} | {value}{mark} | {limit} | `{self.command}` |"


def write(page: Path, section: str, figures: Sequence[Figure], note: str = "") -> None:
    """Write ``figures`` as the section ``section`` of the Markdown file ``page``.

    A section with this title is replaced; the other sections stay unchanged. The text above the
    table has the date, the machine and ``note``.
    """
    text = page.read_text() if page.exists() else _TITLE
    before, *sections = re.split(r"^## ", text, flags=re.M)
    # By title; a dict keeps the order of the page when the section is replaced.
    kept = {part.partition("\n")[0]: part for part in sections}
    rows = "\n".join(figure.row() for figure in figures)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kept[section] = (
        f"{section}\n\n"
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on {os.cpu_count()} cores and "
        f"{memory:.0f} GiB with Python {platform.python_version()}."
        f"{' ' if note else ''}{note}\n\n"
        "| What | Measured | Limit | Command |\n| --- | --- | --- | --- |\n"
        f"{rows}\n"
    )
    body = "\n".join(f"## {part.rstrip()}\n" for part in kept.values())
    page.write_text(f"{before if sections else _TITLE}\n{body}".replace("\n\n\n", "\n\n"))
