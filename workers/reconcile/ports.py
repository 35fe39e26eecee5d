"""The ports of a reconcile pass: every effect outside the database goes through one of these.

``workers.wiring`` builds them for the product; tests build them from fakes.
``tests/suites/kubernetes/test_conformance.py`` checks that the adapters of ``Infra``, the broker
driver and their fakes behave the same; ``tests/suites/messaging`` checks the router driver.
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
    """Configures and reads running brokers through their management listeners.

    The module ``workers.messaging.brokers.driver`` implements this port and documents each call.
    """

    def find_incarnation(
        self, target: ManagementTarget, *, timeout_seconds: float = ...
    ) -> str: ...

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
    """Configures and reads running routers through their management listeners.

    The module ``workers.messaging.routers.driver`` implements this port and documents each call.
    """

    def find_incarnation(
        self, target: ManagementTarget, *, timeout_seconds: float = ...
    ) -> str: ...

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
    """Takes last samples before deletions and restarts (``workers.metering.last_samples``)."""

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Take the last sample before a deletion; return False for "not yet, call again".

        ``addresses`` are the names of the addresses to delete; None means the whole space. The
        caller must have disconnected their clients. True means that the sample is recorded. For the
        whole space, True may also mean that an instance could not be read for too long, or that no
        client could ever use the space. Idempotent.
        """
        ...

    def before_restart(self, space_id: str, instance: str) -> bool:
        """Take the last sample before one instance is restarted, or deleted alone.

        True means that the sample is recorded, that the instance cannot be read, or that no client
        could use the space yet. False means "not yet, call again". Idempotent.
        """
        ...


@dataclass(frozen=True)
class Ports:
    """All ports of one pass; ``address_space`` gives each step only those that it needs.

    * ``routing``: the router engine, and how routers reach the auth service.
    * ``clock``: returns the time now, in UTC.
    * ``identities_dir``: the folder for client certificates, which the AMQP library reads as files.
    """

    # ``brokers`` and ``routers`` are modules: a module can implement a protocol too (PEP 544).
    infra: Infra
    brokers: Brokers
    routers: Routers
    routing: Routing
    metering: Metering
    clock: Callable[[], datetime]
    identities_dir: Path
