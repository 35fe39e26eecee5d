"""Read routers and brokers for a sampling cycle: list a space's instances, take a snapshot of each.

``sampling`` depends only on the protocol ``Readers``. ``DriverReaders`` implements it for the
product; tests have their own implementations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from tenants.models import Address, AddressSpace
from workers.infra.base import Infra
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import ReadSnapshot
from workers.instances import Locator
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Refused, Unreachable
from workers.messaging.observed import InstanceSnapshot, ManagementTarget


class NoAnswer(Exception):
    """An instance did not answer or refused a request, so its counters are unknown."""


@dataclass(frozen=True)
class Instance:
    """One instance of a space, and how to read it.

    ``read`` takes a snapshot of its counters, which may last seconds. It raises ``NoAnswer`` if the
    instance gives none.
    """

    name: str
    read: Callable[[], InstanceSnapshot]


@dataclass(frozen=True)
class Readable:
    """What a sampling cycle needs of one space: its instances, and ``types``: address -> type."""

    instances: Sequence[Instance]
    types: Mapping[str, str]


class Readers(Protocol):
    """Finds the instances of a space, in the database and on the platform that runs them."""

    @property
    def clock(self) -> Callable[[], datetime]:
        """A function that returns the current time; samples are dated with it."""
        ...

    def find(self, space: AddressSpace) -> Readable:
        """Return the instances and address types of ``space``. Reads no counters.

        Raises:
            InfraError: the platform that runs the instances does not answer.
        """
        ...


@dataclass(frozen=True)
class DriverReaders:
    """Finds instances on ``infra`` and reads them with the product's broker and router drivers.

    ``identities_dir`` is the folder for files with client certificates, which the drivers need.
    """

    infra: Infra
    identities_dir: Path
    clock: Callable[[], datetime]

    def find(self, space: AddressSpace) -> Readable:
        types = address_types(space)
        metered = [MeteredAddress(address, kind) for address, kind in types.items()]
        found = Locator(self.infra, self.identities_dir).list_existing(space)
        instances = [
            Instance(
                one.id.name,
                partial(self._read, REGISTRY[one.id.kind].read_snapshot, one.target, metered),
            )
            for one in found
        ]
        return Readable(instances, types)

    @staticmethod
    def _read(
        snapshot: ReadSnapshot, target: ManagementTarget, metered: Sequence[MeteredAddress]
    ) -> InstanceSnapshot:
        try:
            return snapshot(target, addresses=metered)
        except (Unreachable, Refused) as error:
            raise NoAnswer(str(error)) from error


def product(infra: Infra, identities_dir: Path, clock: Callable[[], datetime]) -> DriverReaders:
    """Return the ``Readers`` that the product uses; tests use others."""
    return DriverReaders(infra, identities_dir, clock)


def address_types(space: AddressSpace) -> dict[str, str]:
    """Return {address: type} of the space's addresses, including those that are being deleted."""
    rows = Address.objects.filter(space=space, deleted_at__isnull=True)
    return dict(rows.order_by("address").values_list("address", "type"))
