"""Names of the instances of an address space, such as ``broker-0``, and of their listeners.

The names are persisted in certificates, router configurations, volumes and metering sources. Only
this module builds and parses the names of instances.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """Whether an instance is a broker or a router; ``workers.infra.kinds`` describes each kind."""

    BROKER = "broker"
    ROUTER = "router"


class Listener(StrEnum):
    """The purpose of a TCP port on which an instance listens; the number is chosen elsewhere."""

    AMQPS = "amqps"  # public: clients connect here
    # Internal, with mutual TLS: workers connect to all instances, and routers to brokers.
    MANAGEMENT = "management"
    MESH = "mesh"  # routers of a space connect to each other here
    HEALTH = "health"  # HTTP, only in a cluster, for the probes of the node that the pod runs on


# No leading zeros, so that each instance has exactly one name.
_NAME = re.compile(rf"({'|'.join(Kind)})-(0|[1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class InstanceId:
    """The identity of one instance within its space: its kind, and its number among that kind.

    ``ordinal`` counts from 0 in each kind. The space is not part of the value.
    """

    kind: Kind
    ordinal: int

    @property
    def name(self) -> str:
        """The name that is persisted and shown, such as ``broker-1``."""
        return f"{self.kind}-{self.ordinal}"

    @classmethod
    def find(cls, name: str) -> Self | None:
        """Return the identity in ``name``, such as ``router-0``; None if it has another form.

        Whether such an instance exists is not checked.
        """
        match = _NAME.fullmatch(name)
        return None if match is None else cls(Kind(match[1]), int(match[2]))

    @classmethod
    def parse(cls, name: str) -> Self:
        """Return the identity in ``name``, as ``find`` does.

        Raises:
            ValueError: ``name`` is no name of an instance.
        """
        found = cls.find(name)
        if found is None:
            raise ValueError(f"{name!r} is not the name of an instance")
        return found
