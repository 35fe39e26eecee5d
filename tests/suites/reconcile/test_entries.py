"""The ways into the loop: Celery tasks and the command."""

import signal
from typing import Any

import pytest
from django.core.management import call_command

from tenants.models import AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers import schedule, tasks, wiring

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(world: World, monkeypatch: pytest.MonkeyPatch) -> AddressSpace:
    monkeypatch.setattr(wiring, "ports", lambda: world.ports)
    return rows.make_space(rows.make_tenant())


def test_the_task_reconciles_and_ignores_what_a_later_version_sends(space: AddressSpace) -> None:
    tasks.reconcile_space(space_id=space.id, correlation_id="from the future")

    space.refresh_from_db()
    assert space.phase == "Active"


def test_the_beat_sends_one_message_for_each_due_space(
    space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(tasks.reconcile_space, "apply_async", lambda **call: sent.append(call))

    tasks.reconcile_due()

    assert sent == [{"kwargs": {"space_id": space.id}, "expires": 60}]


def test_the_command_stops_when_nothing_is_due(
    space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    call_command("reconcile", "--once")

    space.refresh_from_db()
    assert space.phase == "Active"


def test_every_entry_of_the_beat_table_is_a_task() -> None:
    known = {var.name for var in vars(tasks).values() if hasattr(var, "apply_async")}

    assert {entry["task"] for entry in schedule.TABLE.values()} <= known
