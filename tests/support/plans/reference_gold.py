"""The oracle of the billing law: state and gold by the rules of the design, in plain Python.

Written apart from the Spark transforms and from the DataFusion recompute, on purpose: three
programs that must agree. Only tests use it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tests.support.billing_histories import Batch, CellKey, Row

COUNTERS = (
    "messages_in",
    "messages_out",
    "stored_byte_ms",
    "connections_opened",
    "connection_ms",
)
MAXIMA = (*COUNTERS, "peak_connections")

Life = tuple[str, str, str, str, str, int]  # tenant, space, source, boot, address, epoch
State = dict[tuple[Life, datetime], dict[str, int]]


def fold(state: State, batches: Iterable[Batch]) -> State:
    """Take batches into ``state``: the largest value of each counter per life and bucket."""
    for batch in batches:
        for row in batch.rows:
            held = state.setdefault((_life(row), row["bucket_at"]), dict.fromkeys(MAXIMA, 0))
            for counter in MAXIMA:
                held[counter] = max(held[counter], row[counter])
    return state


def gold(state: State) -> dict[CellKey, int]:
    """Return usage per cell: differences of consecutive maxima inside a life, largest peak."""
    cells: dict[CellKey, int] = {}
    before: dict[Life, dict[str, int]] = {}
    for (life, bucket_at), held in sorted(state.items(), key=lambda item: item[0][1]):
        tenant_id, space_id, _, _, address, _ = life
        last = before.get(life, dict.fromkeys(MAXIMA, 0))
        for counter in COUNTERS:
            key = CellKey(tenant_id, space_id, address, counter, bucket_at)
            cells[key] = cells.get(key, 0) + held[counter] - last[counter]
        key = CellKey(tenant_id, space_id, address, "peak_connections", bucket_at)
        cells[key] = max(cells.get(key, 0), held["peak_connections"])
        before[life] = held
    return {key: quantity for key, quantity in cells.items() if quantity}


def _life(row: Row) -> Life:
    fields: tuple[Any, ...] = tuple(
        row[c] for c in ("tenant_id", "space_id", "source", "boot_id", "address", "epoch")
    )
    return fields
