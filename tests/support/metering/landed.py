"""What has arrived in bronze, in a form that a test can write down."""

from workers.metering import delta
from workers.metering.roots import Root

# After one round in which five messages went into ``orders``.
LANDED_ONCE = [("broker-0", "", 1, 0), ("broker-0", "orders", 1, 5), ("space", "", 1, 0)]


def rows(root: Root) -> list[tuple[str, str, int, int]]:
    """Return (instance, address, seq, messages_in) of every row in bronze."""
    table = delta.open_table(root, delta.BRONZE)
    found = delta.ask("SELECT source, address, seq, messages_in FROM b", {"b": table})
    return sorted(
        (r["source"].split("/")[1], r["address"], r["seq"], r["messages_in"]) for r in found
    )
