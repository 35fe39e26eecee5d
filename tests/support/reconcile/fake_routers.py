"""A fake of the routers' port; ``tests/suites/messaging`` holds the driver to the real thing."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tenants.router_patches import Patch
from tests.support.faults import Faults
from tests.support.reconcile.fakes import FakeInfra
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.messaging.management import Unreachable
from workers.messaging.observed import PROBE_PREFIX, ManagementTarget
from workers.messaging.probe import ProbeFailed
from workers.messaging.routers import entities
from workers.messaging.routers.desired import DesiredRouter, RoutedAddress
from workers.messaging.routers.driver import Converged
from workers.messaging.routers.entities import Entity
from workers.messaging.routers.routing import Routing
from workers.reconcile.ports import Routers

_AUTHORITY = certificates.create_authority("control", datetime.now(UTC))


def fake_routing(engine: str = "devrouter") -> Routing:
    def authority(_now: datetime) -> KeyPair:
        return _AUTHORITY

    return Routing(engine, "127.0.0.1", 5671, authority)


@dataclass(frozen=True)
class Connected:
    """A client's connection: whose, since when, and on which address."""

    user: str
    opened_at: datetime
    address: str = ""


@dataclass
class FakeRouter:
    """What one router holds, and who is connected."""

    held: dict[tuple[str, str], Entity] = field(default_factory=dict)
    connections: set[Connected] = field(default_factory=set)
    reattached: list[str] = field(default_factory=list)
    cuts: list[frozenset[str]] = field(default_factory=list)  # who was still there after each cut

    def names(self, kind: str) -> set[str]:
        """Return the addresses of the tenant that entities of a kind are for."""
        return {
            entity.address
            for entity in self.held.values()
            if entity.kind == kind
            and entity.address
            and not entity.address.startswith(PROBE_PREFIX)
        }


@dataclass
class FakeRouters(Faults, Routers):
    """The router driver over routers in memory; unreachable until its infra runs them."""

    infra: FakeInfra
    clock: Callable[[], datetime]
    routers: dict[tuple[str, str], FakeRouter] = field(default_factory=dict)
    slow_starts: int = 0
    broken_links: dict[str, str] = field(default_factory=dict)  # address -> the router's words
    apart: set[frozenset[str]] = field(default_factory=set)  # two each that do not join
    writes: int = 0
    applied: list[list[str]] = field(default_factory=list)  # the addresses of each ``apply``
    patches: frozenset[Patch] = frozenset()

    def find_incarnation(self, target: ManagementTarget, *, timeout_seconds: float = 5) -> str:
        self._at(target)
        return "life"

    def converge(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        leaving: Sequence[RoutedAddress] = (),
        only: Collection[str] | None = None,
    ) -> Converged:
        held = self._at(target).held
        built = [*entities.build(router), *entities.build_holds(leaving)]
        wanted = {(entity.kind, entity.name): entity for entity in built}
        is_whole = only is None or bool(leaving)
        orphans = [
            key for key in held if key not in wanted and (is_whole or key[0] == entities.LINK_ROUTE)
        ]
        new = {
            key: entity
            for key, entity in wanted.items()
            if held.get(key) != entity and (only is None or leaving or self._may(entity, only))
        }
        for key in orphans:
            del held[key]
        held.update(new)
        self.writes += len(orphans) + len(new)
        present = {entity.address for entity in held.values()}
        pending = {key: text for key, text in self.broken_links.items() if key in present}
        unjoined = self._unjoined(router)
        return Converged(pending, len(new), len(orphans), unjoined, self.patches)

    def apply(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        leaving: Sequence[RoutedAddress] = (),
        gone: Sequence[RoutedAddress] = (),
    ) -> Converged:
        self.applied.append([address.address for address in router.addresses])
        held = self._at(target).held
        built = [*entities.build(router), *entities.build_holds(leaving)]
        wanted = {(entity.kind, entity.name): entity for entity in built}
        touched = entities.list_possible([*router.addresses, *leaving, *gone], router.brokers)
        orphans = [key for key in touched if key in held and key not in wanted]
        new = {key: each for key, each in wanted.items() if held.get(key) != each}
        for key in orphans:
            del held[key]
        held.update(new)
        self.writes += len(orphans) + len(new)
        present = {entity.address for entity in built}
        pending = {key: text for key, text in self.broken_links.items() if key in present}
        return Converged(pending, len(new), len(orphans), self._unjoined(router), self.patches)

    def reattach(
        self,
        target: ManagementTarget,
        router: DesiredRouter,
        *,
        unread: Mapping[str, Collection[str]],
    ) -> Sequence[str]:
        at = self._at(target)
        stuck = [
            entity.address
            for entity in at.held.values()
            if any(
                entity.reads(broker, queue) for broker, names in unread.items() for queue in names
            )
            and entity.address not in self.broken_links
        ]
        at.reattached += stuck
        self.writes += len(stuck)
        return stuck

    def disconnect_clients(
        self, target: ManagementTarget, router: DesiredRouter, *, leaving: Collection[str] = ()
    ) -> int:
        at = self._at(target)
        kept = {
            connection
            for connection in at.connections
            if connection.address not in leaving
            and connection.user in router.allowed
            and connection.opened_at >= router.allowed[connection.user]
        }
        cut = len(at.connections - kept)
        at.connections = kept
        at.cuts.append(frozenset(connection.user for connection in kept))
        self.writes += cut
        return cut

    def probe(self, target: ManagementTarget, address: str) -> float:
        self._at(target)
        if not address.startswith(PROBE_PREFIX):
            raise ProbeFailed(f"{address}: no such address")
        return 0.001

    def _unjoined(self, router: DesiredRouter) -> Mapping[str, str]:
        return {
            peer.name: f"{peer.host}:{peer.port}: connection refused"
            for peer in router.peers
            if {router.name, peer.name} in self.apart
            or self.infra.running_at(peer.port, "mesh") is None
        }

    def _may(self, entity: Entity, only: Collection[str]) -> bool:
        return (
            entity.address in only
            or entity.kind in (entities.CONNECTOR, entities.LINK_ROUTE)
            or entity.address.startswith(PROBE_PREFIX)
        )

    def _at(self, target: ManagementTarget) -> FakeRouter:
        key = self.infra.running_at(target.port)
        if key is None:
            raise Unreachable("nobody there")
        if self.slow_starts:
            self.slow_starts -= 1
            raise Unreachable("still starting")
        return self.routers.setdefault(key, FakeRouter())
