"""The ports and memory limits of pods, and conversions of the API's quantities. Pure."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from controlplane.core.instance_names import Kind, Listener
from workers.infra.kinds import REGISTRY

# The same in every pod, as each has an address of its own.
PORTS: Mapping[Listener, int] = {
    Listener.AMQPS: 5671,
    Listener.MANAGEMENT: 5673,
    Listener.MESH: 5674,
    Listener.HEALTH: 5675,
}

CPU_MILLIS = 100  # what an instance requests, in thousandths of a CPU
# The disk of the node that a container may use, in MiB: temporary files (256) and logs (50, on
# OpenShift up to 250). The journal of a broker is on a volume and does not count.
EPHEMERAL_MB = 1024
EPHEMERAL_REQUEST_MB = 64
_MEBIBYTE = 1 << 20  # bytes


def container_mb(kind: Kind, memory_mb: int) -> int:
    """Return the memory limit, in MiB, of a container whose engine gets ``memory_mb``."""
    return memory_mb + REGISTRY[kind].overhead_mb


def quantity(mebibytes: int) -> str:
    """Return a number of MiB in the API's canonical form, such as ``2Gi`` for 2048.

    That is the largest unit in which the number has no fraction.
    The API returns quantities in this form. If Waypost applied another form, the live object would
    always differ. Source: apimachinery, resource.Quantity, "canonical form".
    """
    amount, units = mebibytes, ["Mi", "Gi", "Ti"]
    while amount and amount % 1024 == 0 and len(units) > 1:
        amount //= 1024
        units.pop(0)
    return f"{amount}{units[0]}" if amount else "0"


def cpu(millis: int) -> str:
    """Return thousandths of a core in the API's canonical form, such as ``2`` for 2000."""
    return f"{millis}m" if millis % 1000 else str(millis // 1000)


def at_least_millis(quantity: str) -> int:
    """Return a quantity of CPU, in any form, in thousandths of a core, rounded up."""
    parse: Any = parse_quantity  # the library has no type annotations
    amount: Decimal = parse(quantity)
    return math.ceil(amount * 1000)


def at_least_mebibytes(quantity: str) -> int:
    """Return a quantity of the API, in any form, in MiB, rounded up."""
    parse: Any = parse_quantity  # the library has no type annotations
    amount: Decimal = parse(quantity)
    return math.ceil(amount / _MEBIBYTE)


def mebibytes(quantity: str) -> int:
    """Return the MiB of a text that the function ``quantity`` wrote; 0 for any other text."""
    for power, unit in enumerate(("Mi", "Gi", "Ti")):
        number = quantity.removesuffix(unit)
        if number != quantity and number.isdigit():
            return int(number) << (10 * power)
    return 0
