"""What the instances of an address space are called: kind, ordinal and listeners.

The names are persisted: in certificates, router configurations, volumes and metering sources. This
module makes and reads them; no other module takes a name apart.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """The kind of an instance; ``workers.infra.kinds`` has a description of each."""

    BROKER = "broker"
    ROUTER = "router"


class Listener(StrEnum):
    """A port of an instance, by what it is for."""

    AMQPS = "amqps"  # public: clients connect here
    MANAGEMENT = "management"  # internal, with mutual TLS: workers, and routers to brokers
    MESH = "mesh"  # connects the routers of a space


# No leading zeros, so that each instance has exactly one name.
_NAME = re.compile(rf"({'|'.join(Kind)})-(0|[1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class InstanceId:
    """One instance within its space, such as the second broker."""

    kind: Kind
    ordinal: int

    @property
    def name(self) -> str:
        """The name that is persisted and shown, such as ``broker-1``."""
        return f"{self.kind}-{self.ordinal}"

    @classmethod
    def find(cls, name: str) -> Self | None:
        """Return the instance with this name; None if no instance is called so."""
        match = _NAME.fullmatch(name)
        return None if match is None else cls(Kind(match[1]), int(match[2]))

    @classmethod
    def parse(cls, name: str) -> Self:
        """Return the instance with this name.

        Raises:
            ValueError: no instance is called so.
        """
        found = cls.find(name)
        if found is None:
            raise ValueError(f"{name!r} is not the name of an instance")
        return found
