"""What a space waits for: how it is stored, and what is shown of it."""

import importlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces, addresses, restrictions
from tenants.models import Address, AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.messaging.management import Refused
from workers.reconcile import loop, waiting
from workers.reconcile.outcome import Wait
from workers.reconcile.space_rows import SpaceRows
from workers.reconcile.waiting import Waiting

migration = importlib.import_module("tenants.migrations.0011_waiting_state")
NAMES = [f"broker-{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("words", "step", "reason", "instances"),
    [
        ("7 namespace ClusterBusy", "namespace", "ClusterBusy", []),
        ("7 broker addresses SettingsPending", "broker addresses", "SettingsPending", []),
        ("7 instances BrokerDown broker-0 router-1", "instances", "BrokerDown",
         ["broker-0", "router-1"]),
        (f"7 brokers BrokerDown {' '.join(NAMES)}"[:200], "brokers", "BrokerDown", NAMES[:19]),
    ],
)  # fmt: skip
def test_the_migration_keeps_what_the_words_said(
    words: str, step: str, reason: str, instances: list[str]
) -> None:
    found = migration.parse_words(words)

    assert found == Waiting(7, step, reason, tuple(instances)).as_json()


@pytest.mark.django_db
def test_a_wait_is_stored_by_its_parts(world: World) -> None:
    space = rows.make_space(rows.make_tenant())
    world.infra.refuses = lambda _spec: "OOMKilled"

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    space.refresh_from_db()
    stored = waiting.of(space)
    assert stored == Waiting(1, "brokers", Reason.BROKER_DOWN, ("broker-0",))
    assert stored != replace(stored, reason=Reason.BROKER_STARTING)


def space_with(**generations: int) -> SpaceRows:
    space = AddressSpace(**generations)
    return SpaceRows(
        space=space,
        brokers=(),
        addresses=(),
        users=(),
        now=datetime(2026, 11, 1, tzinfo=UTC),
        full=False,
    )


def test_no_number_of_plan_changes_disconnects_clients() -> None:
    found = space_with(generation=5, observed_generation=2, plan_generation=5)

    assert not found.has_other_logins


def test_withdrawn_sending_between_plan_changes_disconnects_clients() -> None:
    found = space_with(generation=5, observed_generation=2, plan_generation=5, logins_generation=4)

    assert found.has_other_logins


@pytest.mark.django_db
def test_withdrawing_sending_changes_logins(world: World) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    world.settle(space)

    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")

    space.refresh_from_db()
    assert space.logins_generation == space.generation == 2


@pytest.mark.django_db
def test_an_ending_space_names_the_reason_and_the_detail_of_its_wait(world: World) -> None:
    space = rows.make_space(rows.make_tenant())
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.brokers.fail_at("converge", Refused("AMQ229031: Unable to validate user"))

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    space.refresh_from_db()
    (shown,) = (condition for condition in space.conditions if condition["type"] == "Ready")
    assert shown["reason"] == Reason.TERMINATING
    assert shown["message"] == "BrokerRefuses: AMQ229031: Unable to validate user"


@pytest.mark.django_db
def test_a_broker_that_refuses_to_delete_an_address_is_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    world.settle(space)
    addresses.delete(address=Address.objects.get(), by=SYSTEM)

    def refuse(*_arguments: object) -> None:
        raise Refused("AMQ229025: the queue is in use")

    with monkeypatch.context() as patched:
        patched.setattr(world.brokers, "remove", refuse)
        outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)
    space.refresh_from_db()

    assert outcome == Wait(2, Reason.INSTANCE_REFUSES, "AMQ229025: the queue is in use")
    assert space.attempts == 0
    world.settle(space)
    assert Address.objects.get().deleted_at is not None
