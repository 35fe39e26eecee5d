"""A new release of the engines reaches the fleet in waves, and stops by itself where it fails."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from controlplane.core import leases
from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.actions.rollouts import NothingToSteer
from tenants.models import AddressSpace, EngineRelease, Rollout, Tenant
from tenants.rollouts import Window
from tests.support.reconcile import rows
from tests.support.reconcile.fleets import (
    ONE,
    POLICY,
    THREE,
    TWO,
    current,
    fail_on,
    images,
    make,
    run,
    settle_all,
)
from tests.support.reconcile.world import World
from workers.infra.base import EngineImages, InstanceSpec
from workers.reconcile import loop
from workers.rollouts import fleet
from workers.rollouts.fleet import Policy

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return rows.make_tenant()


@pytest.fixture
def spaces(world: World, tenant: Tenant) -> list[AddressSpace]:
    """Five settled spaces of one tenant, on the first release there was."""
    return make(world, tenant)


def test_the_first_images_are_the_first_release_and_move_nobody(
    world: World, spaces: list[AddressSpace]
) -> None:
    fleet.advance(ONE, POLICY, world.now)

    assert EngineRelease.objects.get().number == 1
    assert current().state == "Done"
    assert images(world) == ["broker:1"] * 5
    assert {address_space.release_id for address_space in AddressSpace.objects.all()} == {
        current().release_id
    }


def test_spaces_from_before_there_were_releases_keep_what_they_run(
    world: World, tenant: Tenant
) -> None:
    space = rows.make_space(tenant)
    world.settle(space)

    fleet.advance(ONE, POLICY, world.now)
    fleet.advance(TWO, POLICY, world.now)
    space.refresh_from_db()

    assert space.release == EngineRelease.objects.get(number=2)  # the first wave
    assert space.observed_release == EngineRelease.objects.get(number=1)


def test_new_images_go_in_waves_that_wait_for_each_other(
    world: World, spaces: list[AddressSpace]
) -> None:
    fleet.advance(TWO, POLICY, world.now)
    fleet.advance(TWO, POLICY, world.now)
    first = AddressSpace.objects.filter(release__number=2).count()
    settle_all(world, spaces)
    between = sorted(images(world))
    fleet.advance(TWO, POLICY, world.now)
    second = AddressSpace.objects.filter(release__number=2).count()

    done = run(world, spaces)

    assert (first, second) == (2, 4)
    assert between == ["broker:1"] * 3 + ["broker:2"] * 2
    assert done.state == "Done"
    assert images(world) == ["broker:2"] * 5
    assert {instance.starts for instance in world.infra.instances.values()} == {2}
    assert AuditEvent.objects.filter(action="address_space.release").count() == 5
    assert run(world, spaces).pk == done.pk


def test_a_release_that_fails_stops_by_itself_and_says_why(
    world: World, spaces: list[AddressSpace]
) -> None:
    fail_on("broker:2", world)
    fleet.advance(TWO, POLICY, world.now)
    settle_all(world, spaces)

    early = run(world, spaces)
    world.now += timedelta(minutes=16)
    stopped = run(world, spaces)

    assert early.state == "Running"
    assert stopped.state == "Stopped"
    assert stopped.reason.startswith("2 did not become ready: org-")
    assert "broker-0 is not ready: ImagePullBackOff: no such image." in stopped.reason
    assert sorted(images(world)) == ["broker:1"] * 3 + ["broker:2"] * 2
    standing = rollouts.progress(stopped, world.now, POLICY.patience)
    assert (standing.total, standing.done, standing.waiting, standing.failed) == (5, 0, 3, 2)
    assert rollouts.release_of_new_spaces() == EngineRelease.objects.get(number=1)


def test_one_failure_within_the_budget_lets_the_others_go_on(
    world: World, spaces: list[AddressSpace]
) -> None:
    broken = spaces[0]

    def refuses(spec: InstanceSpec) -> str:
        fails = spec.namespace.space_id == broken.pk and spec.image == "broker:2"
        return "no" if fails else ""

    world.infra.refuses = refuses
    fleet.advance(TWO, POLICY, world.now)
    settle_all(world, spaces)
    world.now += timedelta(minutes=16)

    going = run(world, spaces)

    assert going.state == "Running"
    assert rollouts.progress(going, world.now, POLICY.patience).done == 4
    (failure,) = rollouts.list_failed(going, world.now, POLICY.patience)
    assert (failure.space, failure.reason) == ("space-0", "broker-0 is not ready: no.")


def test_rolling_back_repairs_what_failed_and_the_configured_images_stay_away(
    world: World, spaces: list[AddressSpace]
) -> None:
    fail_on("broker:2", world)
    fleet.advance(TWO, POLICY, world.now)
    settle_all(world, spaces)
    world.now += timedelta(minutes=16)
    run(world, spaces)

    actions.roll_back(by=SYSTEM, reason="broken image")
    settle_all(world, spaces)

    assert images(world) == ["broker:1"] * 5
    back = run(world, spaces)
    assert (back.release.number, back.state) == (1, "Done")
    assert images(world) == ["broker:1"] * 5
    assert {address_space.phase for address_space in AddressSpace.objects.all()} == {"Active"}
    assert AuditEvent.objects.get(action="rollout.roll_back").reason == "broken image"


def test_what_got_there_goes_back_in_waves(world: World, spaces: list[AddressSpace]) -> None:
    run(world, spaces)
    actions.roll_back(by=SYSTEM)

    fleet.advance(TWO, POLICY, world.now)

    assert AddressSpace.objects.filter(release__number=1).count() == 2
    run(world, spaces)
    assert images(world) == ["broker:1"] * 5


def test_a_fixed_pair_of_images_after_a_roll_back_is_rolled_out(
    world: World, spaces: list[AddressSpace]
) -> None:
    run(world, spaces)
    actions.roll_back(by=SYSTEM)
    run(world, spaces)

    fixed = run(world, spaces, EngineImages("broker:3", "router:2"))

    assert (fixed.release.number, fixed.state) == (3, "Done")
    assert images(world) == ["broker:3"] * 5


def test_fixed_images_reach_what_the_broken_ones_broke(
    world: World, spaces: list[AddressSpace]
) -> None:
    fail_on("broker:2", world)
    for _ in range(3):
        fleet.advance(TWO, POLICY, world.now)
        for space in spaces:
            loop.reconcile(space.id, world.ports)
        world.now += POLICY.patience + timedelta(minutes=1)
    stopped = current().state

    done = run(world, spaces, THREE)

    assert stopped == "Stopped"
    assert (done.state, done.release.number) == ("Done", 3)
    assert images(world) == ["broker:3"] * 5


def test_a_space_that_never_came_up_gets_the_next_images(world: World, tenant: Tenant) -> None:
    fail_on("broker:1", world)
    fleet.advance(ONE, POLICY, world.now)
    space = rows.make_space(tenant)
    loop.reconcile(space.id, world.ports)

    run(world, [space])
    space.refresh_from_db()

    assert (space.phase, images(world)) == ("Active", ["broker:2"])


def test_nothing_goes_back_to_a_release_that_failed(
    world: World, spaces: list[AddressSpace]
) -> None:
    for bad in (TWO, THREE):
        fail_on(bad.broker, world)
        for _ in range(3):
            fleet.advance(bad, POLICY, world.now)
            for space in spaces:
                loop.reconcile(space.id, world.ports)
            world.now += POLICY.patience + timedelta(minutes=1)
        assert current().state == "Stopped"

    new = rollouts.release_of_new_spaces()
    back = actions.roll_back(by=SYSTEM)

    assert new is not None
    assert new.number == 1
    assert back.release.number == 1


@pytest.mark.parametrize("steer", [actions.pause, actions.resume])
def test_where_no_rollout_ever_began_none_is_said_to_be_over(
    steer: Callable[..., object],
) -> None:
    with pytest.raises(NothingToSteer, match="There is no rollout"):
        steer(by=SYSTEM)


def test_paused_moves_nobody_until_it_is_resumed(world: World, spaces: list[AddressSpace]) -> None:
    fleet.advance(TWO, POLICY, world.now)
    actions.pause(by=SYSTEM)

    paused = run(world, spaces)

    assert paused.state == "Paused"
    assert sorted(images(world)) == ["broker:1"] * 3 + ["broker:2"] * 2
    actions.resume(by=SYSTEM)
    assert run(world, spaces).state == "Done"
    with pytest.raises(NothingToSteer):
        actions.pause(by=SYSTEM)


def test_a_resumed_rollout_gives_time_again(world: World, spaces: list[AddressSpace]) -> None:
    fail_on("broker:2", world)
    fleet.advance(TWO, POLICY, world.now)
    settle_all(world, spaces)
    world.now += timedelta(minutes=16)
    assert run(world, spaces).state == "Stopped"
    actions.resume(by=SYSTEM)
    Rollout.objects.filter(state="Running").update(resumed_at=world.now)
    fail_on("", world)

    assert run(world, spaces).state == "Running"
    for key in world.infra.instances:  # the registry has it now
        world.infra.instances[key].trouble = ""
    world.now += timedelta(seconds=60)
    assert run(world, spaces).state == "Done"


def test_a_tenant_is_touched_in_its_window_only(world: World, spaces: list[AddressSpace]) -> None:
    other = rows.make_space(rows.make_tenant(), "elsewhere")
    world.settle(other)
    # the next night from 22:00 for four hours
    day = world.now + timedelta(days=1)
    opens = day.replace(hour=22, minute=0, second=0, microsecond=0)
    actions.set_windows(
        tenant=spaces[0].tenant, windows=[Window(opens.weekday(), time(22), 240)], by=SYSTEM
    )
    everybody = [*spaces, other]

    before = run(world, everybody)
    at_first = sorted(images(world))
    world.now = opens + timedelta(hours=3)
    after = run(world, everybody)

    assert at_first == ["broker:1"] * 5 + ["broker:2"]
    assert (before.state, after.state) == ("Running", "Done")
    assert images(world) == ["broker:2"] * 6


def test_new_spaces_get_the_newest_release_at_once(
    world: World, tenant: Tenant, spaces: list[AddressSpace]
) -> None:
    fleet.advance(TWO, POLICY, world.now)

    made = rows.make_space(tenant, "newcomer")
    standing = rollouts.progress(current(), world.now + timedelta(hours=1), POLICY.patience)

    assert made.release == EngineRelease.objects.get(number=2)
    assert (standing.total, standing.failed) == (6, 2)


def test_a_newer_release_takes_over_from_one_on_its_way(
    world: World, spaces: list[AddressSpace]
) -> None:
    fleet.advance(TWO, POLICY, world.now)
    settle_all(world, spaces)

    run(world, spaces, EngineImages("broker:3"))

    assert images(world) == ["broker:3"] * 5
    states = Rollout.objects.order_by("id").values_list("state", flat=True)
    assert list(states) == ["Done", "Superseded", "Done"]


def test_a_step_costs_the_same_queries_for_any_number_of_spaces(
    world: World, tenant: Tenant, spaces: list[AddressSpace]
) -> None:
    counts = []
    for wave in (1, 4):
        fleet.advance(TWO, Policy(0, 9, POLICY.patience), world.now)
        with CaptureQueriesContext(connection) as queries:
            fleet.advance(TWO, Policy(wave, 9, POLICY.patience), world.now)
        counts.append(len(queries))
        settle_all(world, spaces)

    assert counts[0] == counts[1]


def test_two_open_rollouts_cannot_be(world: World, spaces: list[AddressSpace]) -> None:
    release = current().release
    Rollout.objects.create(release=release, is_configured=False)

    with pytest.raises(IntegrityError), transaction.atomic():
        Rollout.objects.create(release=release, is_configured=False)


def test_a_local_installation_has_no_releases(world: World, tenant: Tenant) -> None:
    space = rows.make_space(tenant)

    fleet.advance(EngineImages(), POLICY, world.now)
    world.settle(space)

    assert (EngineRelease.objects.count(), space.phase) == (0, "Active")


@pytest.mark.parametrize(
    "window", [Window(7, time(1), 60), Window(0, time(1), 29), Window(0, time(1), 10081)]
)
def test_what_is_no_window_is_refused(tenant: Tenant, window: Window) -> None:
    with pytest.raises(Invalid, match="0 is Monday"):
        actions.set_windows(tenant=tenant, windows=[window], by=SYSTEM)


def test_windows_are_replaced_and_told(tenant: Tenant) -> None:
    actions.set_windows(tenant=tenant, windows=[Window(0, time(1), 60)], by=SYSTEM)
    actions.set_windows(tenant=tenant, windows=[Window(5, time(22, 30), 480)], by=SYSTEM)

    assert list(tenant.maintenance_windows.values_list("weekday", "minutes")) == [(5, 480)]
    event = AuditEvent.objects.filter(action="tenant.maintenance_windows").first()
    assert event is not None
    assert (event.before, event.after) == (
        {"windows": ["0 01:00 60 min"]},
        {"windows": ["5 22:30 480 min"]},
    )


MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "is_open"),
    [
        (timedelta(days=6, hours=21, minutes=59), False),
        (timedelta(days=6, hours=22), True),
        (timedelta(days=6, hours=23, minutes=59, seconds=59), True),
        (timedelta(days=7, hours=1, minutes=59), True),  # Monday morning, over the week's end
        (timedelta(days=7, hours=2), False),
        (timedelta(days=2, hours=22), False),
    ],
)
def test_a_window_over_midnight_and_the_weeks_end(at: timedelta, is_open: bool) -> None:
    assert rollouts.is_open([Window(6, time(22), 240)], MONDAY + at) is is_open
    assert rollouts.is_open([], MONDAY + at)


def test_the_lease_of_another_worker_keeps_us_out(
    world: World, spaces: list[AddressSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "acquire", lambda *_args: False)

    fleet.advance(TWO, POLICY, world.now)

    assert EngineRelease.objects.count() == 1
    assert loop.list_due(world.ports) == []
