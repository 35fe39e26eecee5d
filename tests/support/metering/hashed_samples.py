"""The evidence hash of samples by docs/lakehouse.md, in plain Python.

Written apart from the SQL of ``workers.metering.sample_hash``, on purpose: they must agree.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from workers.metering import bronze

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[str, int]:
    """Return (hash, number) of the distinct samples in ``rows``, each {column of bronze: value}."""
    texts = {encoded(row) for row in rows}
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    sums = [sum(int.from_bytes(d[n : n + 4], "big") for d in digests) for n in range(0, 32, 4)]
    return "".join(f"{total % 2**32:08x}" for total in sums), len(texts)


def encoded(row: Mapping[str, Any]) -> str:
    """Return the text of one sample."""
    kinds = [(name, kind) for name, kind in bronze.kinds() if name != "batch_id"]
    return "".join(_part(name, kind, row.get(name)) for name, kind in kinds)


def _part(name: str, kind: str, value: Any) -> str:
    if kind == "meter":
        is_nothing = value == 0 or (value is None and name in bronze.optional())
        return "" if is_nothing else f"{name}={'-' if value is None else value},"
    if value is None:
        return "-,"
    if kind == "string":
        return f"{len(value.encode())}:{value},"
    if kind == "timestamp":
        return f"{(value - _EPOCH) // timedelta(microseconds=1)},"
    return f"{value},"  # a whole number, or a date
