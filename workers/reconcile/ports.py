"""The ports of a reconcile pass: every effect outside the database goes through one of these.

``workers.wiring`` builds them for the product; tests build them from fakes. The conformance suites
in tests/suites/messaging check that adapters and fakes behave the same.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from workers.infra.base import Infra
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.brokers.driver import Converged, Unknown
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import driver as routers
from workers.messaging.routers.desired import DesiredRouter, RoutedAddress
from workers.messaging.routers.routing import Routing


class Brokers(Protocol):
    """The broker driver. ``workers.messaging.brokers.driver`` documents each call."""

    def find_incarnation(self, target: ManagementTarget) -> str: ...

    def converge(
        self,
        target: ManagementTarget,
        broker: DesiredBroker,
        *,
        only: Collection[str] | None = None,
    ) -> Converged: ...

    def apply(self, target: ManagementTarget, broker: DesiredBroker) -> Converged: ...

    def disconnect_clients(self, target: ManagementTarget, broker: DesiredBroker) -> int: ...

    def withdraw(self, target: ManagementTarget, addresses: Collection[str]) -> int: ...

    def remove(self, target: ManagementTarget, addresses: Collection[str]) -> None: ...

    def list_unknown(self, target: ManagementTarget, broker: DesiredBroker) -> Unknown: ...

    def count_stored(self, target: ManagementTarget) -> int: ...

    def list_unread(self, target: ManagementTarget) -> Collection[str]: ...

    def probe(self, target: ManagementTarget, address: str) -> float: ...

    def probe_listener(self, target: ManagementTarget, port: int) -> None: ...


class Routers(Protocol):
    """The router driver. ``workers.messaging.routers.driver`` documents each call."""

    def find_incarnation(self, target: ManagementTarget) -> str: ...

    def converge(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        leaving: Sequence[RoutedAddress] = (),
        only: Collection[str] | None = None,
    ) -> routers.Converged: ...

    def apply(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        leaving: Sequence[RoutedAddress] = (),
        gone: Sequence[RoutedAddress] = (),
    ) -> routers.Converged: ...

    def reattach(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        unread: Mapping[str, Collection[str]],
    ) -> Sequence[str]: ...

    def disconnect_clients(
        self, target: ManagementTarget, router: DesiredRouter, *, leaving: Collection[str] = ()
    ) -> int: ...

    def probe(self, target: ManagementTarget, address: str) -> float: ...


class Metering(Protocol):
    """The hooks into metering that deletions and restarts need."""

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Take the last sample before teardown; return True if it is recorded or never can be.

        ``addresses`` are names in the space; None means the whole space with its connections. The
        caller has disconnected the clients of what it names. False means "not yet, call again".
        Idempotent.
        """
        ...

    def before_restart(self, space_id: str, instance: str) -> bool:
        """Take the last sample before a planned restart; return True if recorded or impossible.

        False means "not yet, call again". Idempotent.
        """
        ...


@dataclass(frozen=True)
class Ports:
    """All ports of one pass. ``identities_dir`` is where client certificates are kept as files.

    ``address_space`` gives each step only those that it needs.
    """

    infra: Infra
    brokers: Brokers
    routers: Routers
    routing: Routing
    metering: Metering
    clock: Callable[[], datetime]
    identities_dir: Path
