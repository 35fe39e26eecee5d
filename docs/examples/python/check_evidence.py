"""Computes the evidence hash of exported samples, and checks the hash of each sample.

    waypost invoices samples INVOICE --to samples.jsonl
    python check_evidence.py samples.jsonl

The last line has the number of samples and their hash. For the whole period of an invoice, it is
the hash that the invoice shows. Only Python is needed; the rule is in docs/lakehouse.md, "Proof".
"""

import hashlib
import json
import sys
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The columns of a sample in the order of the rule, by how their values are written.
# Older samples have no value of a later meter.
COLUMNS = [
    ("tenant_id", "string"),
    ("space_id", "string"),
    ("source", "string"),
    ("boot_id", "string"),
    ("seq", "number"),
    ("taken_at", "instant"),
    ("bucket_at", "instant"),
    ("address", "string"),
    ("address_type", "string"),
    ("epoch", "number"),
    ("messages_in", "meter"),
    ("messages_out", "meter"),
    ("stored_byte_ms", "meter"),
    ("connections_opened", "meter"),
    ("connection_ms", "meter"),
    ("peak_connections", "meter"),
    ("bytes_in", "later meter"),
    ("bytes_out", "later meter"),
    ("steps_64k_in", "later meter"),
    ("steps_64k_out", "later meter"),
    ("date", "date"),
]


def part(name, kind, value):
    """Return one column of a sample as the rule writes it."""
    if kind == "later meter":
        kind, value = "meter", value or 0
    if kind == "meter":
        if value == 0:
            return ""
        return f"{name}={'-' if value is None else value},"
    if value is None:
        return "-,"
    if kind == "string":
        return f"{len(value.encode())}:{value},"
    if kind == "instant":
        instant = datetime.fromisoformat(value.replace("Z", "+00:00"))
        return f"{(instant - EPOCH) // timedelta(microseconds=1)},"
    return f"{value},"


def digest(sample):
    """Return the SHA-256 of one sample."""
    text = "".join(part(name, kind, sample.get(name)) for name, kind in COLUMNS)
    return hashlib.sha256(text.encode()).digest()


def main(path):
    words, seen = [0] * 8, set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            sample = json.loads(line)
            found = digest(sample)
            if found.hex() != sample["sha256"]:
                sys.exit(f"the values of this sample do not have its hash: {line}")
            if found in seen:  # equal samples count once
                continue
            seen.add(found)
            for n in range(8):
                words[n] += int.from_bytes(found[4 * n : 4 * n + 4], "big")
    total = "".join(f"{word % 2**32:08x}" for word in words)
    print(len(seen), "samples", total)


if __name__ == "__main__":
    main(sys.argv[1])
