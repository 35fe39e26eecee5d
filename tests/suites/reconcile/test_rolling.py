"""Changes that need a restart: one instance at a time, and only while no other is down."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from plans.models import SpacePlan
from tenants.actions import address_spaces, space_plans
from tenants.models import AddressSpace, Broker, Placement
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra.base import InstanceSpec, InstanceStatus
from workers.reconcile import loop, rolling
from workers.reconcile.outcome import Done, Outcome, Wait

pytestmark = pytest.mark.django_db

BROKERS = ["broker-0", "broker-1", "broker-2"]


@pytest.fixture
def space(world: World) -> AddressSpace:
    """A settled standard space with a queue on each of three brokers."""
    return make_settled(world)


def make_settled(world: World) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard")
    for ordinal in range(3):
        row = rows.make_address(made, f"queue-{ordinal}")
        broker, _ = Broker.objects.get_or_create(space=made, ordinal=ordinal)
        Placement.objects.filter(address=row).update(broker=broker)
    world.settle(made)
    world.infra.started.clear()
    return made


def resize(space: AddressSpace, plan: str = "standard-medium") -> None:
    """Want another size of broker: no broker can take that on without a restart."""
    AddressSpace.objects.filter(pk=space.pk).update(
        space_plan=SpacePlan.objects.get(key=plan),
        generation=F("generation") + 1,
        plan_generation=F("generation") + 1,
    )
    address_spaces.enqueue_reconcile(space)


def pass_once(world: World, space: AddressSpace) -> Outcome | None:
    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)
    space.refresh_from_db()
    return outcome


def memory(world: World) -> dict[str, int]:
    """Return the memory that each broker was started with."""
    instances = world.infra.instances.items()
    return {
        name: instance.spec.memory_mb
        for (_, name), instance in sorted(instances)
        if instance.spec.kind is Kind.BROKER
    }


def started(world: World) -> list[str]:
    """Return the brokers that were started, in order; the plan's connections restart the router."""
    return [name for name in world.infra.started if name.startswith("broker")]


def fails_to_start(*names: str, memory_mb: int = 256) -> Callable[[InstanceSpec], str]:
    def refuses(spec: InstanceSpec) -> str:
        fails = spec.name in names and spec.memory_mb == memory_mb
        return "ImagePullBackOff: no such image" if fails else ""

    return refuses


def ready(space: AddressSpace) -> dict[str, str]:
    return next(condition for condition in space.conditions if condition["type"] == "Ready")


def test_a_size_change_reaches_every_broker_once(world: World, space: AddressSpace) -> None:
    resize(space)

    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert started(world) == BROKERS
    assert memory(world) == dict.fromkeys(BROKERS, 256)
    assert space.observed_generation == space.generation


def test_every_restart_follows_a_last_sample_of_that_instance(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled: list[tuple[str, list[str]]] = []

    def sample(space_id: str, instance: str) -> bool:
        sampled.append((instance, started(world)))
        return space_id == space.id

    monkeypatch.setattr(world.metering, "before_restart", sample)
    resize(space)

    world.settle(space)

    of_brokers = [sample for sample in sampled if sample[0].startswith("broker")]
    assert of_brokers == [(name, BROKERS[:n]) for n, name in enumerate(BROKERS)]


def test_a_restart_waits_for_its_last_sample(world: World, space: AddressSpace) -> None:
    resize(space)
    world.metering.not_yet = 1

    outcome = pass_once(world, space)

    assert outcome == Wait(0.2, Reason.LAST_SAMPLE_PENDING)
    assert world.infra.started == []
    world.settle(space)
    assert started(world) == BROKERS


def test_one_that_does_not_run_restarts_without_a_last_sample(
    world: World, space: AddressSpace
) -> None:
    [stopped] = [
        instance for (_, name), instance in world.infra.instances.items() if name == "broker-1"
    ]
    stopped.trouble = "OOMKilled"
    resize(space)

    world.settle(space)

    assert started(world) == ["broker-1", "broker-0", "broker-2"]
    of_brokers = [name for _, name in world.metering.restarts if name.startswith("broker")]
    assert of_brokers == ["broker-0", "broker-2"]


def test_the_next_one_restarts_only_when_the_last_one_is_back(
    world: World, space: AddressSpace
) -> None:
    resize(space)
    world.infra.withheld = {"broker-0"}

    for _ in range(4):
        outcome = pass_once(world, space)

    assert started(world) == ["broker-0"]
    assert outcome == Wait(
        0.2,
        Reason.ROLLING_OUT,
        "broker-0 is not ready: starting. broker-1 and broker-2 keep running as before until then.",
    )
    world.infra.withheld.clear()
    world.settle(space)
    assert started(world) == BROKERS


def test_one_that_never_becomes_ready_stops_the_others_and_says_why(
    world: World, space: AddressSpace
) -> None:
    resize(space)
    world.infra.refuses = fails_to_start("broker-1")

    outcome = world.settle(space)

    assert started(world) == ["broker-0", "broker-1"]
    assert memory(world) == {"broker-0": 256, "broker-1": 256, "broker-2": 128}
    assert isinstance(outcome, Wait)
    assert outcome.delay_seconds >= 10, "a worker must not sleep through it"
    assert ready(space)["reason"] == "RolloutStopped"
    assert ready(space)["message"] == (
        "broker-1 is not ready: ImagePullBackOff: no such image. "
        "broker-2 keeps running as before until then."
    )


def test_one_that_stays_unready_without_a_word_is_not_waited_for_in_a_worker(
    world: World, space: AddressSpace
) -> None:
    resize(space)
    world.infra.withheld = {"broker-1"}

    outcome = world.settle(space)

    assert isinstance(outcome, Wait)
    assert outcome.delay_seconds >= 10
    assert ready(space)["reason"] == "RolloutStopped"
    assert started(world) == ["broker-0", "broker-1"]


def test_a_space_that_nobody_could_look_at_for_long_has_just_begun_to_start(world: World) -> None:
    """As where the workers were busy with many others."""
    space = rows.make_space(rows.make_tenant())
    world.infra.withheld.add("broker-0")
    world.now += timedelta(minutes=5)

    first = pass_once(world, space)
    world.now += timedelta(minutes=2)
    later = pass_once(world, space)

    assert isinstance(first, Wait)
    assert isinstance(later, Wait)
    assert (first.reason, first.delay_seconds < 1) == (Reason.BROKER_STARTING, True)
    assert later.reason is Reason.BROKER_DOWN


def test_a_start_that_had_to_wait_for_something_else_has_just_begun(world: World) -> None:
    """As for an address of the load balancer, which is in the certificate."""
    space = rows.make_space(rows.make_tenant())
    world.infra.withheld.add("broker-0")
    world.infra.has_address = False
    before = pass_once(world, space)
    world.now += timedelta(minutes=3)
    world.infra.has_address = True

    found = []
    for _ in range(3):
        found.append(pass_once(world, space))
        world.now += timedelta(seconds=40)

    assert isinstance(before, Wait)
    assert before.reason == Reason.ENDPOINT_PENDING
    reasons = [outcome.reason for outcome in found if isinstance(outcome, Wait)]
    assert reasons == ["BrokerStarting", "BrokerStarting", "BrokerDown"]


def test_one_that_starts_is_looked_at_soon_whatever_else_is_down(
    world: World, space: AddressSpace
) -> None:
    for (_, name), instance in world.infra.instances.items():
        instance.trouble = "OOMKilled" if name in ("broker-0", "broker-1") else ""
    world.infra.withheld = {"broker-0"}
    world.infra.refuses = fails_to_start("broker-1")
    resize(space)

    outcomes = []
    for _ in range(4):
        outcomes.append(pass_once(world, space))
        world.now += timedelta(seconds=1)

    assert started(world) == ["broker-0", "broker-1"]
    assert [outcome.delay_seconds for outcome in outcomes if isinstance(outcome, Wait)] == [0.2] * 4


def test_putting_the_old_size_back_repairs_what_did_not_come_up(
    world: World, space: AddressSpace
) -> None:
    resize(space)
    world.infra.refuses = fails_to_start("broker-1")
    world.settle(space)

    resize(space, "standard-small")
    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert started(world) == ["broker-0", "broker-1", "broker-1", "broker-0"]
    assert memory(world) == dict.fromkeys(BROKERS, 128)
    assert space.phase == "Active"


def test_what_none_could_start_with_is_repaired_in_all(world: World) -> None:
    world.infra.refuses = fails_to_start(*BROKERS, memory_mb=128)
    space = make_settled(world)
    assert ready(space)["reason"] == "BrokerDown"

    resize(space)
    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert memory(world) == dict.fromkeys(BROKERS, 256)


def test_live_changes_reach_the_others_while_one_is_down(world: World, space: AddressSpace) -> None:
    resize(space)
    world.infra.refuses = fails_to_start("broker-1")
    world.settle(space)
    late = rows.make_address(space, "late")
    Placement.objects.filter(address=late).update(broker=Broker.objects.get(space=space, ordinal=2))

    world.settle(space)

    assert "late" in world.broker(space, "broker-2").addresses
    assert ("router.config.address", "wp-address:late") in world.router(space).held
    assert "late" in world.infra.instances[namespace_of(world), "broker-2"].spec.files["broker.xml"]
    assert memory(world)["broker-2"] == 128


def test_what_is_deleted_meanwhile_is_not_restarted(world: World, space: AddressSpace) -> None:
    resize(space)
    address_spaces.delete(space=space, by=SYSTEM)

    world.settle(space)

    assert space.deleted_at is not None
    assert world.infra.started == []


@pytest.mark.parametrize(
    ("held", "stopped", "silent", "chosen"),
    [
        ([], [], [], None),
        (["a", "b"], [], [], "a"),
        (["b"], [], ["a"], None),
        (["a", "b"], ["b"], [], "b"),  # what does not run loses nothing
        (["a", "b"], ["c"], [], None),
        (["a", "b"], [], ["a"], "a"),
        (["a", "b"], [], ["a", "b"], None),  # we may be the ones who cannot reach them
        (["a", "b"], ["a", "b"], [], "a"),
    ],
)
def test_who_may_restart(
    held: list[str], stopped: list[str], silent: list[str], chosen: str | None
) -> None:
    seen = {name: InstanceStatus(name, Kind.BROKER, running=name not in stopped) for name in "abc"}

    assert rolling.choose(held, seen, {*stopped, *silent}) == chosen


def namespace_of(world: World) -> str:
    (name,) = world.infra.namespaces
    return name


def test_a_change_of_plan_ends_its_operation_when_all_run_in_their_new_size(
    world: World, space: AddressSpace
) -> None:
    world.infra.withheld = {"broker-1"}
    operation = space_plans.change(space=space, space_plan="standard-large", by=SYSTEM)

    loop.reconcile(space.id, world.ports)
    operation.refresh_from_db()
    between, steps = operation.state, operation.steps
    world.infra.withheld.clear()
    world.settle(space)
    operation.refresh_from_db()

    assert between == "Running"
    assert "broker-1 is not ready" in steps[-1]["message"]
    assert operation.state == "Succeeded"
    assert memory(world) == dict.fromkeys(BROKERS, 256)
    assert space.phase == "Active"
