"""Collects comparisons of what clients counted with what Waypost reports, one row each."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Comparison:
    """One value from both sides: the clients ``counted`` it, and Waypost's value was ``found``.

    Numbers may differ by at most ``allowed``; texts must be equal.
    """

    what: str
    counted: float | str
    found: float | str
    allowed: float = 0

    @property
    def holds(self) -> bool:
        """Whether both sides agree."""
        if isinstance(self.counted, str) or isinstance(self.found, str):
            return self.counted == self.found
        return abs(self.counted - self.found) <= self.allowed

    def row(self) -> Sequence[str]:
        """Return the comparison's cells for the printed table; ``HEADER`` has the headings."""
        bound = f"± {_number(self.allowed)}" if self.allowed else ""
        verdict = "ok" if self.holds else "DIFFERS"
        return [self.what, _number(self.counted), _number(self.found), bound, verdict]


HEADER: Sequence[str] = ["", "clients", "waypost", "bound", ""]


@dataclass
class Comparisons:
    """All comparisons of one run of the demonstration."""

    rows: list[Comparison] = field(default_factory=list)

    def add(
        self, what: str, counted: float | str, found: float | str, allowed: float = 0
    ) -> Comparison:
        """Add a comparison and return it."""
        comparison = Comparison(what, counted, found, allowed)
        self.rows.append(comparison)
        return comparison

    @property
    def n_differences(self) -> int:
        """How many comparisons do not hold."""
        return sum(not row.holds for row in self.rows)

    def closing_line(self) -> str:
        """Return the demonstration's last line. Programs parse it, so its format is fixed."""
        return f"demo: {len(self.rows)} comparisons, {self.n_differences} differences"


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"
