"""How a round reads routers and brokers: which instances a space has, and a snapshot of each.

``Readers`` is what ``sampling`` needs; ``DriverReaders`` is the product's, tests bring their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tenants.models import Address, AddressSpace
from workers import targets
from workers.infra.base import Infra, Kind
from workers.messaging.brokers import driver as brokers
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Unreachable
from workers.messaging.observed import InstanceSnapshot, ManagementTarget
from workers.messaging.routers import driver as routers

Snapshot = Callable[..., InstanceSnapshot]


class NoAnswer(Exception):
    """An instance did not answer; that says nothing about its counters."""


@dataclass(frozen=True)
class Instance:
    """One instance of a space. ``read`` talks to it (seconds at worst) and raises ``NoAnswer``."""

    name: str
    read: Callable[[], InstanceSnapshot]


@dataclass(frozen=True)
class Readable:
    """What a round needs of one space: its instances and the type of each of its addresses."""

    instances: Sequence[Instance]
    types: Mapping[str, str]


class Readers(Protocol):
    """Finds the instances of a space; touches the database and the place where they run."""

    def find(self, space: AddressSpace) -> Readable:
        """Return what can be read of ``space``.

        Raises:
            InfraError: the place where its instances run does not answer.
        """
        ...


@dataclass(frozen=True)
class DriverReaders:
    """Reads by the product's drivers. ``identities_dir`` holds our certificates as files."""

    infra: Infra
    identities_dir: Path
    drivers: Mapping[Kind, Snapshot]

    def find(self, space: AddressSpace) -> Readable:
        types = address_types(space)
        metered = [MeteredAddress(address, kind) for address, kind in types.items()]
        found = targets.list_targets(space, self.infra, self.identities_dir)
        instances = [
            Instance(each.name, _reader(self.drivers[each.kind], each.target, metered))
            for each in found
            if each.kind in self.drivers
        ]
        return Readable(instances, types)


def product(infra: Infra, identities_dir: Path) -> DriverReaders:
    """Return the readers of this installation."""
    drivers: dict[Kind, Snapshot] = {
        Kind.BROKER: brokers.snapshot,
        Kind.ROUTER: routers.snapshot,
    }
    return DriverReaders(infra, identities_dir, drivers)


def address_types(space: AddressSpace) -> dict[str, str]:
    """Return the type of each address of the space that may still be on its instances."""
    rows = Address.objects.filter(space=space, deleted_at__isnull=True)
    return dict(rows.order_by("address").values_list("address", "type"))


def _reader(
    snapshot: Snapshot, target: ManagementTarget, metered: Sequence[MeteredAddress]
) -> Callable[[], InstanceSnapshot]:
    def read() -> InstanceSnapshot:
        try:
            return snapshot(target, addresses=metered)
        except Unreachable as error:
            raise NoAnswer(str(error)) from error

    return read
