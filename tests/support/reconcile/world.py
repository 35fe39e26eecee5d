"""A world of fakes to reconcile against, with a clock that tests move."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

from django.utils import timezone

from tenants.models import AddressSpace
from tests.support.reconcile.fake_routers import FakeRouter, FakeRouters, fake_routing
from tests.support.reconcile.fakes import FakeBroker, FakeBrokers, FakeInfra, FakeMetering
from workers.infra import names
from workers.reconcile import changes, loop
from workers.reconcile.outcome import Outcome
from workers.reconcile.ports import Ports

_SOON = timedelta(seconds=8)


@dataclass
class World:
    """A fake for every port, and a clock."""

    folder: Path
    infra: FakeInfra = field(default_factory=FakeInfra)
    metering: FakeMetering = field(default_factory=FakeMetering)
    now: datetime = field(default_factory=timezone.now)
    engine: str = "devrouter"

    def __post_init__(self) -> None:
        self.brokers = FakeBrokers(self.infra)
        self.routers = FakeRouters(self.infra, lambda: self.now)

    @property
    def ports(self) -> Ports:
        return Ports(
            infra=self.infra,
            brokers=self.brokers,
            routers=self.routers,
            routing=fake_routing(self.engine),
            metering=self.metering,
            clock=lambda: self.now,
            identities_dir=self.folder,
        )

    @property
    def writes(self) -> int:
        return (
            self.infra.writes
            + self.brokers.writes
            + self.routers.writes
            + len(self.metering.samples)
        )

    def settle(self, space: AddressSpace) -> Outcome | None:
        """Reconcile until idle, as the beat would; return the last outcome.

        Idle is a space that nobody wants to look at within the next seconds.
        """
        outcome = None
        for _ in range(50):
            due = loop.list_due(self.ports)
            if space.id in due:
                outcome = loop.reconcile(space.id, self.ports)
                space.refresh_from_db()
            elif not self._is_due_soon(space):
                break
            self.now += timedelta(seconds=2)
        return outcome

    def _is_due_soon(self, space: AddressSpace) -> bool:
        space.refresh_from_db()
        at = space.next_attempt_at
        return space.deleted_at is None and at is not None and at < self.now + _SOON

    def pass_full(self, space: AddressSpace) -> Outcome | None:
        """Make the next full pass due and run it."""
        self.now += loop.FULL_PASS_EVERY * 2
        return self.settle(space)

    def settle_files(self, space: AddressSpace) -> Outcome | None:
        """Let the time pass after which the start-up files are written again, and settle."""
        self.now += changes.FILES_EVERY
        return self.settle(space)

    def broker(self, space: AddressSpace, name: str = "broker-0") -> FakeBroker:
        namespace = names.namespace(space.tenant_id, space.id, space.name)
        return self.brokers.brokers[namespace, name]

    def router(self, space: AddressSpace, name: str = "router-0") -> FakeRouter:
        namespace = names.namespace(space.tenant_id, space.id, space.name)
        return self.routers.routers[namespace, name]


def time_with(sleep: Callable[[float], None]) -> SimpleNamespace:
    """Return the module ``time`` for the loop alone: other threads go on sleeping as before."""
    return SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
