"""What a reconcile pass may touch: every effect outside the database goes through one of these.

Built by ``workers.wiring`` for the product and from fakes by the tests; the conformance suites in
tests/verification hold both to the same behaviour.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from workers.infra.base import Infra
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.brokers.driver import Converged
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import driver as routers
from workers.messaging.routers.desired import DesiredRouter, RoutedAddress

_ALONE = frozenset({"devrouter"})


class Brokers(Protocol):
    """The broker driver (``workers.messaging.brokers.driver`` says what each call promises)."""

    def find_life(self, target: ManagementTarget) -> str: ...

    def converge(
        self,
        target: ManagementTarget,
        broker: DesiredBroker,
        *,
        only: Collection[str] | None = None,
    ) -> Converged: ...

    def cut_off(self, target: ManagementTarget, broker: DesiredBroker) -> int: ...

    def remove(self, target: ManagementTarget, addresses: Collection[str]) -> None: ...

    def list_strays(self, target: ManagementTarget, broker: DesiredBroker) -> Sequence[str]: ...

    def count_stored(self, target: ManagementTarget) -> int: ...

    def list_unread(self, target: ManagementTarget) -> Collection[str]: ...

    def probe(self, target: ManagementTarget, address: str) -> float: ...

    def probe_listener(self, target: ManagementTarget, port: int) -> None: ...


class Routers(Protocol):
    """The router driver (``workers.messaging.routers.driver`` says what each call promises)."""

    def find_life(self, target: ManagementTarget) -> str: ...

    def converge(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        leaving: Sequence[RoutedAddress] = (),
        only: Collection[str] | None = None,
    ) -> routers.Converged: ...

    def reattach(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        unread: Mapping[str, Collection[str]],
    ) -> Sequence[str]: ...

    def cut_off(
        self, target: ManagementTarget, router: DesiredRouter, *, leaving: Collection[str] = ()
    ) -> int: ...

    def probe(self, target: ManagementTarget, address: str) -> float: ...


class Metering(Protocol):
    """The hooks into metering that deletions and restarts need."""

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Take the last sample before teardown; True when it is recorded or cannot ever be.

        ``addresses`` are names in the space; None means the whole space with its connections. By
        then no client can use them any more. Idempotent. False means "not yet, ask again".
        """
        ...

    def before_restart(self, space_id: str, instance: str) -> bool:
        """Take the last sample before a planned restart; True when it is recorded or cannot be.

        Idempotent. False means "not yet, ask again".
        """
        ...


@dataclass(frozen=True)
class Routing:
    """How routers are run and whom they ask about logins.

    ``authority`` returns the control authority, which vouches for a router's space.
    """

    engine: str
    auth_host: str
    auth_port: int
    authority: Callable[[datetime], KeyPair]

    @property
    def has_mesh(self) -> bool:
        """Whether routers of this engine can be joined: else a space has one, whatever its plan."""
        return self.engine not in _ALONE


@dataclass(frozen=True)
class Doors:
    """One pass's access to the world. ``identities_dir`` holds our certificates as files."""

    infra: Infra
    brokers: Brokers
    routers: Routers
    routing: Routing
    metering: Metering
    clock: Callable[[], datetime]
    identities_dir: Path
