"""Names of the instances of an address space, such as ``broker-0``, and of their listeners.

The names are persisted in certificates, router configurations, volumes and metering sources. Only
this module builds and parses the names of instances.
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
    """A TCP port of an instance, named after its purpose."""

    AMQPS = "amqps"  # public: clients connect here
    # Internal, with mutual TLS: workers connect to all instances, and routers to brokers.
    MANAGEMENT = "management"
    MESH = "mesh"  # routers of a space connect to each other here
    HEALTH = "health"  # HTTP, only in a cluster, for the probes of the node that the pod runs on


# No leading zeros, so that each instance has exactly one name.
_NAME = re.compile(rf"({'|'.join(Kind)})-(0|[1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class InstanceId:
    """One instance within its space. ``ordinal`` counts from 0 within the kind."""

    kind: Kind
    ordinal: int

    @property
    def name(self) -> str:
        """The name that is persisted and shown, such as ``broker-1``."""
        return f"{self.kind}-{self.ordinal}"

    @classmethod
    def find(cls, name: str) -> Self | None:
        """Return the instance that ``name`` denotes; None if it is no name of an instance."""
        match = _NAME.fullmatch(name)
        return None if match is None else cls(Kind(match[1]), int(match[2]))

    @classmethod
    def parse(cls, name: str) -> Self:
        """Return the instance that ``name`` denotes.

        Raises:
            ValueError: it is no name of an instance.
        """
        found = cls.find(name)
        if found is None:
            raise ValueError(f"{name!r} is not the name of an instance")
        return found
