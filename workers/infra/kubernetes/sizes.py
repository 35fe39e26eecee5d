"""The fixed numbers of a pod: ports and memory. Pure."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from workers.infra.base import Kind

PORTS: Mapping[str, int] = {"amqps": 5671, "management": 5673, "mesh": 5674}
# Beyond its heap a Java process keeps classes, threads and network buffers. A container as large as
# the heap is killed in the middle of work (EnMasse issue 1451).
_BESIDES_MB: Mapping[Kind, int] = {Kind.BROKER: 320, Kind.ROUTER: 64}

_MEBIBYTE = 1 << 20


def container_mb(kind: Kind, memory_mb: int) -> int:
    """Return the memory limit, in MiB, of a container whose engine is given ``memory_mb``."""
    return memory_mb + _BESIDES_MB[kind]


def quantity(mebibytes: int) -> str:
    """Return an amount as the API writes it back: in the largest unit that leaves no fraction.

    Source: apimachinery, resource.Quantity, "canonical form". Another form would never be settled.
    """
    amount, units = mebibytes, ["Mi", "Gi", "Ti"]
    while amount and amount % 1024 == 0 and len(units) > 1:
        amount //= 1024
        units.pop(0)
    return f"{amount}{units[0]}" if amount else "0"


def at_least_mebibytes(quantity: str) -> int:
    """Return any quantity of the API's, rounded up."""
    parse: Any = parse_quantity  # untyped
    amount: Decimal = parse(quantity)
    return math.ceil(amount / _MEBIBYTE)


def mebibytes(quantity: str) -> int:
    """Return the amount of a quantity that we wrote; 0 for any other."""
    for power, unit in enumerate(("Mi", "Gi", "Ti")):
        number = quantity.removesuffix(unit)
        if number != quantity and number.isdigit():
            return int(number) << (10 * power)
    return 0
