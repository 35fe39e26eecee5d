"""Finds what a catalog must not sell: what no broker, Kubernetes object or placement can hold.

Pure but for ``Installation.configured``. ``parsing`` refuses a catalog with the problems that
``find`` yields. ``tenants.placement`` and ``tenants.configuration_size`` check again before a space
gets an address, because a space may mix versions of plans.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

from django.conf import settings

from controlplane.core import address_types
from plans.catalog.definitions import (
    MEBIBYTE,
    AddressPlanDefinition,
    Catalog,
    SpacePlanDefinition,
)
from plans.catalog.fields import wrong

Path = tuple[str | int, ...]
_WHOLE_BROKER = 1000  # the credit of a whole broker, in thousandths
# Messages of all addresses may fill this share of a broker's heap, in thousandths. The rest is for
# connections, page files that are being read, and messages on their way in and out.
_MESSAGES_OF_HEAP = 400
_MESSAGE_MEMORY_MB = 48  # of a plan that names none, where the share allows it
# A broker behind routers holds a message in one piece, several times while it stores and sends it.
_HEAP_PER_MESSAGE = 16
# A broker that clients log in to: its heap without connections and messages, in MiB, and what a
# connection without links takes of the heap, in KiB (docs/performance.md), with some to spare.
_IDLE_HEAP_MB, _CONNECTION_KB = 40, 136
# Space type -> limits of clients that nothing in such a space enforces.
NOT_LIMITED = {
    "standard": ("max_connection_rate", "max_user_rate"),
    "brokered": ("max_source_connections",),
}
_WHO_LIMITS = {"standard": "router", "brokered": "broker"}
# Bytes that one Kubernetes object may hold, less what the file has without any address.
OBJECT_BYTES = 1_000_000
# Bytes of the start-up files for one address whose name has about 40 characters: of a broker, of a
# broker for each user of a brokered space who may use the address, and of a router.
ON_BROKER, FOR_USER, ON_ROUTER = 2_100, 100, 700


@dataclass(frozen=True)
class Installation:
    """What a catalog is compared with.

    ``disk_gb`` is the size in GiB of a broker's volume whose plan names none. ``placements`` are
    the names of the installation's placement profiles.
    """

    disk_gb: int
    placements: Collection[str]

    @classmethod
    def configured(cls) -> Self:
        """Return the values of this installation, from Django's settings."""
        return cls(settings.SPACE_STORAGE_GB, frozenset(settings.PLACEMENTS))


def message_memory_mb(heap_mb: int, sold_mb: int | None) -> int:
    """Return the message memory of a space plan in MiB.

    That is ``sold_mb``; if it is None, the default, or less in a small heap.

    Raises:
        PydanticCustomError: ``sold_mb`` is more than the heap allows.
    """
    largest = heap_mb * _MESSAGES_OF_HEAP // 1000
    found = min(_MESSAGE_MEMORY_MB, largest) if sold_mb is None else sold_mb
    if found > largest:
        raise wrong(
            f"sells {found} MiB of message memory in a heap of {heap_mb} MiB: write "
            f"broker_message_memory_mb {largest} at most, or a larger broker_memory_mb"
        )
    return found


def message_kb(heap_mb: int, sold_kb: int | None) -> int:
    """Return the largest message, in KiB, that clients of a standard space may send.

    That is ``sold_kb``; if it is None, the largest that a broker with this heap survives.

    Raises:
        PydanticCustomError: ``sold_kb`` is more than a broker with this heap survives.
    """
    largest = heap_mb * 1024 // _HEAP_PER_MESSAGE
    if sold_kb is not None and sold_kb > largest:
        raise wrong(
            f"sells messages of {sold_kb} KiB with a heap of {heap_mb} MiB: write max_message_kb "
            f"{largest} at most, or a larger broker_memory_mb"
        )
    return largest if sold_kb is None else sold_kb


def check_limits_of_clients(plan: Mapping[str, object]) -> None:
    """Raise PydanticCustomError if a space plan has limits that only the other type enforces.

    ``plan`` maps the names of a space plan's fields to their values.
    """
    kind = str(plan["space_type"])
    sold = [name for name in NOT_LIMITED.get(kind, ()) if plan[name] is not None]
    if sold:
        (other,) = NOT_LIMITED.keys() - {kind}
        raise wrong(
            f"is {kind}, and no {_WHO_LIMITS[kind]} limits {' or '.join(sold)}: leave that out, "
            f"or sell a {other} space"
        )


def find(catalog: Catalog, installation: Installation) -> Iterator[tuple[Path, str]]:
    """Yield each field of the catalog that sells too much: its path, and a reason with a remedy.

    Of each space plan it checks the placement profile, the connections if the plan is brokered, and
    the number of addresses. Of each address plan it checks ``max_bytes`` against every space plan
    of the same type that a commercial plan sells together with it.
    """
    for size in catalog.space_plans:
        yield from _of_space_plan(size, installation)
    sold = {
        (space_plan, address_plan)
        for plan in catalog.plans
        for space_plan in plan.space_plans
        for address_plan in plan.address_plans
    }
    for size in catalog.space_plans:
        for address in catalog.address_plans:
            if (size.key, address.key) in sold and size.space_type == address.space_type:
                yield from _of_pair(size, address, installation)


def stored_bytes(plan: AddressPlanDefinition) -> int:
    """Return the bytes that an address of the plan may store on each of its brokers.

    0 for a type that stores nothing. A subscription stores nothing of its own: the limit of its
    topic covers it.
    """
    setting = address_types.SETTING["max_bytes"]
    return plan.max_bytes or 0 if setting.is_offered(plan.space_type, plan.address_type) else 0


def _of_space_plan(
    size: SpacePlanDefinition, installation: Installation
) -> Iterator[tuple[Path, str]]:
    path = ("space_plans", size.key)
    if size.placement and size.placement not in installation.placements:
        known = ", ".join(sorted(installation.placements)) or "none"
        reason = (
            f"is not a placement profile of this installation, which has: {known}. Add it to "
            "`spaces.placements` of the chart's values, or leave it out"
        )
        yield (*path, "placement"), reason
    is_brokered = size.space_type == "brokered"
    # The heap that neither an idle broker nor stored messages need is for connections.
    free_mb = size.broker_memory_mb - _IDLE_HEAP_MB - size.broker_message_memory_mb
    most = max(0, free_mb * 1024 // _CONNECTION_KB)
    if is_brokered and size.max_connections > most:
        reason = (
            f"sells {size.max_connections} connections to a broker with a heap of "
            f"{size.broker_memory_mb} MiB, of which messages take {size.broker_message_memory_mb}: "
            f"write {most} at most, or a larger broker_memory_mb"
        )
        yield (*path, "max_connections"), reason
    each = ON_BROKER + FOR_USER * size.max_users if is_brokered else ON_ROUTER
    if size.max_addresses * each > OBJECT_BYTES:
        users = f" with {size.max_users} users" if is_brokered else ""
        yield (
            (*path, "max_addresses"),
            f"sells {size.max_addresses} addresses{users}, whose files take about "
            f"{size.max_addresses * each:,} bytes; an object of a cluster holds {OBJECT_BYTES:,}: "
            f"write {OBJECT_BYTES // each} at most"
            + (", or a smaller max_users" if is_brokered else ""),
        )


def _of_pair(
    size: SpacePlanDefinition, address: AddressPlanDefinition, installation: Installation
) -> Iterator[tuple[Path, str]]:
    """Yield a problem if the addresses that fit on a broker by credit may exceed its capacity."""
    each = stored_bytes(address)
    capacity = size.message_bytes(installation.disk_gb)
    # The smallest share of a broker that one partition takes.
    credit = min(_WHOLE_BROKER, address.broker_credit // address.partitions)
    if not each or not size.max_addresses:
        return
    by_credit = size.max_addresses if credit == 0 else _WHOLE_BROKER // credit
    count = min(size.max_addresses, by_credit)
    if count * each <= capacity:
        return
    where, remedy = "message memory", "a larger broker_message_memory_mb"
    if size.broker_persistent:
        disk_gb = max(1, count * each >> 30)
        # A volume stores less than its size: ``message_bytes`` subtracts what else it holds.
        while replace(size, broker_disk_gb=disk_gb).message_bytes(0) < count * each:
            disk_gb += 1
        where, remedy = "volume", f"broker_disk_gb {disk_gb}"
    reason = (
        f"sells {count * each // MEBIBYTE:,} MiB on one broker of the space plan {size.key} "
        f"({count} addresses of {each // MEBIBYTE:,} MiB), whose {where} stores "
        f"{capacity // MEBIBYTE:,} MiB of messages: write {capacity // count} at most here, or "
        f"{remedy} there"
    )
    yield ("address_plans", address.key, "max_bytes"), reason
