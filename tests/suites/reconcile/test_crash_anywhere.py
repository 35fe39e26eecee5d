"""A worker killed after any step: the next pass ends where an undisturbed one would have ended."""

import inspect
import re
from collections.abc import Callable
from datetime import timedelta
from typing import ParamSpec, TypeVar

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from tenants.actions import address_spaces, addresses, messaging_users
from tenants.models import Address, AddressSpace, MessagingUser
from tests.support.reconcile import rows
from tests.support.reconcile.world import World, time_with
from workers.reconcile import address_space, lease, loop
from workers.reconcile.findings import Findings
from workers.reconcile.outcome import StepResult
from workers.reconcile.pass_runner import PassRunner

pytestmark = pytest.mark.django_db

P = ParamSpec("P")
F = TypeVar("F", bound=Findings)


class Killed(BaseException):
    """The process is gone: nothing after this line ran."""


def list_steps(steps: address_space.Pass) -> list[str]:
    """Return the names of the steps of a pass, in order, from its source."""
    return re.findall(r'take\(\s*"([^"]+)"', inspect.getsource(steps))


def kill_after(name: str, steps: address_space.Pass, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill the worker in passes of this kind when the named step has done its work."""
    # A killed worker gives its lease back to nobody.
    monkeypatch.setattr(lease.Lease, "release", lambda _self: None)

    def killing(runner: PassRunner, inside: address_space.PassPorts) -> None:
        take = runner.take

        def take_and_die(
            step_name: str, step: Callable[P, StepResult[F]], *args: P.args, **kwargs: P.kwargs
        ) -> F:
            def run(*args: P.args, **kwargs: P.kwargs) -> StepResult[F]:
                result = step(*args, **kwargs)
                if step_name == name:
                    raise Killed
                return result

            return take(step_name, run, *args, **kwargs)

        monkeypatch.setattr(runner, "take", take_and_die)
        steps(runner, inside)

    monkeypatch.setattr(address_space, steps.__name__, killing)


def run_killed(world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Killed):
        loop.reconcile(space.id, world.ports)
    monkeypatch.undo()
    monkeypatch.setattr(loop, "time", time_with(lambda _seconds: None))
    assert loop.reconcile(space.id, world.ports) is None, "the dead worker's lease still holds"
    world.now += lease.LENGTH + timedelta(seconds=1)


def make_rows() -> AddressSpace:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders/new")
    rows.make_address(space, "leaving")
    rows.make_user(space, "alice", ("orders/#", "send recv"))
    rows.make_user(space, "bob", ("#", "recv"))
    return space


def change_rows(space: AddressSpace) -> None:
    rows.make_address(space, "news", "topic")
    addresses.delete(address=Address.objects.get(space=space, address="leaving"), by=SYSTEM)
    messaging_users.revoke(user=MessagingUser.objects.get(space=space, name="bob"), by=SYSTEM)


@pytest.mark.parametrize("name", list_steps(address_space.ensure_brokered))
def test_killed_while_building(world: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    space = make_rows()
    kill_after(name, address_space.ensure_brokered, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    assert space.phase == "Active"
    assert len(world.infra.instances) == 1
    assert next(iter(world.infra.instances.values())).starts == 1
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}
    assert set(world.broker(space).addresses) == {"orders/new", "leaving"}


@pytest.mark.parametrize("name", list_steps(address_space.ensure_brokered))
def test_killed_while_changing(world: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    space = make_rows()
    world.settle(space)
    world.broker(space).links = {("bob", "recv", "orders/new"), ("alice", "recv", "orders/new")}
    change_rows(space)
    kill_after(name, address_space.ensure_brokered, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    assert set(world.broker(space).addresses) == {"orders/new", "news"}
    assert world.broker(space).links == {("alice", "recv", "orders/new")}
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}
    assert set(world.metering.samples) == {(space.id, ("leaving",))}
    assert Address.objects.get(address="leaving").deleted_at is not None


@pytest.mark.parametrize("name", list_steps(address_space.delete))
def test_killed_while_tearing_down(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    space = make_rows()
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    kill_after(name, address_space.delete, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    assert space.deleted_at is not None
    assert (world.infra.instances, world.infra.namespaces) == ({}, set())
    assert set(world.metering.samples) == {(space.id, None)}
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}
