"""The fixed numbers of a pod: ports and memory. Pure."""

from collections.abc import Mapping

from workers.infra.base import Kind

PORTS: Mapping[str, int] = {"amqps": 5671, "management": 5673, "mesh": 5674}
# Beyond its heap a Java process keeps classes, threads and network buffers. A container as large as
# the heap is killed in the middle of work (EnMasse issue 1451).
_BESIDES_MB: Mapping[Kind, int] = {Kind.BROKER: 320, Kind.ROUTER: 64}


def container_mb(kind: Kind, memory_mb: int) -> int:
    """Return the memory limit, in MiB, of a container whose engine is given ``memory_mb``."""
    return memory_mb + _BESIDES_MB[kind]
