"""How the portal words each meter: title, unit for people, and base units in one such unit."""

from dataclasses import dataclass
from decimal import Decimal

from plans import usage


@dataclass(frozen=True)
class Shown:
    """A meter as people read it; ``base_per_unit`` turns the stored integer into ``unit``."""

    meter: str
    title: str
    unit: str
    base_per_unit: int
    explanation: str

    @property
    def heading_unit(self) -> str:
        """The unit for a table's head, or '' where the title names it already."""
        return "" if self.unit in self.title.lower() else self.unit

    def amount(self, quantity: int) -> Decimal:
        """Return a stored quantity in this unit, exact to twelve decimals."""
        return Decimal(quantity) / self.base_per_unit


_HOUR_MS = 3_600_000

SHOWN = (
    Shown(usage.MESSAGES_IN, "Messages in", "messages", 1, "Accepted from your senders."),
    Shown(usage.MESSAGES_OUT, "Messages out", "messages", 1, "Delivered to your receivers."),
    Shown(
        usage.CONNECTION_MS,
        "Connection hours",
        "hours",
        _HOUR_MS,
        "How long clients were connected, added up.",
    ),
    Shown(
        usage.PEAK_CONNECTIONS,
        "Peak connections",
        "connections",
        1,
        "The most connections open at once.",
    ),
    Shown(
        usage.CONNECTIONS_OPENED,
        "Connections opened",
        "connections",
        1,
        "How often a client connected.",
    ),
    Shown(
        usage.STORED_BYTE_MS,
        "Storage",
        "GiB-hours",
        _HOUR_MS * 2**30,
        "What your queues held, over time.",
    ),
)
BY_METER = {shown.meter: shown for shown in SHOWN}
