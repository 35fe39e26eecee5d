"""Closing connections by a worker: killed anywhere, silent instances, a restarted instance."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.models import Operation
from tenants.actions import connections
from tenants.models import AddressSpace, Disconnection
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers import disconnecting
from workers.infra import kinds
from workers.instances import LocatedInstance, Locator
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """The worker process ends in the middle."""


@dataclass
class Engines:
    """Closes nothing, and records the calls; ``faults`` are raised first, one a call."""

    faults: list[BaseException] = field(default_factory=list)
    calls: list[tuple[int, str | None]] = field(default_factory=list)

    def close(
        self,
        target: ManagementTarget,
        *,
        boot_id: str | None,
        ids: Collection[str],
        user: str | None,
    ) -> int:
        del boot_id, ids
        self.calls.append((target.port, user))
        if len(self.calls) > 1 and self.faults:
            raise self.faults.pop()
        return 1


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    made = Engines()
    router = replace(kinds.REGISTRY[Kind.ROUTER], close_connections=made.close)
    monkeypatch.setitem(kinds.REGISTRY, Kind.ROUTER, router)
    found = [
        LocatedInstance(InstanceId(kind, number), ManagementTarget("h", number, "", "", ""))
        for kind in (Kind.BROKER, Kind.ROUTER)
        for number in (0, 1)
    ]
    monkeypatch.setattr(Locator, "list_existing", lambda _self, _space: found)
    return made


@pytest.fixture
def operation() -> Operation:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_user(space, "alice")
    return connections.close(space=space, by=SYSTEM, user="alice")


def test_killed_worker_is_succeeded_by_one_that_closes_only_the_rest(
    world: World, engines: Engines, operation: Operation
) -> None:
    engines.faults = [Killed()]
    with pytest.raises(Killed):
        disconnecting.run(operation.subject_id, world.ports)
    due = disconnecting.list_due()
    disconnecting.run(operation.subject_id, world.ports)
    operation.refresh_from_db()

    # Brokers of a standard space are not asked: no client connects to them.
    assert engines.calls == [(0, "alice"), (1, "alice"), (1, "alice")]
    assert due == [operation.subject_id]
    assert operation.state == "Succeeded"
    assert Disconnection.objects.get().closed == 2
    assert not disconnecting.list_due()


def test_silent_instance_is_tried_again_for_a_minute_and_then_named(
    world: World, engines: Engines, operation: Operation
) -> None:
    engines.faults = [Unreachable("gone"), Unreachable("gone")]
    disconnecting.run(operation.subject_id, world.ports)
    operation.refresh_from_db()
    waiting = [step["state"] for step in operation.steps]
    state = operation.state
    long_ago = world.ports.clock() - timedelta(minutes=2)
    Disconnection.objects.update(created_at=long_ago)
    disconnecting.run(operation.subject_id, world.ports)
    operation.refresh_from_db()

    assert (state, waiting) == ("Running", ["done", "waiting"])
    assert (operation.state, operation.error_code) == ("Failed", "connections.not_closed")
    assert "router-1 did not answer" in operation.error_message


def test_spaces_without_requests_cost_nothing(world: World, engines: Engines) -> None:
    assert not AddressSpace.objects.exists()
    assert disconnecting.list_due() == []
    disconnecting.run("dsc_none", world.ports)
    assert engines.calls == []
