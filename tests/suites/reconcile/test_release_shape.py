"""A version of ours that makes instances in another way goes over the fleet in waves.

And of two versions of the worker, which both run while an installation is upgraded, the older one
leaves the fleet and its spaces to the newer one.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from controlplane.core.audit import SYSTEM
from controlplane.core.reasons import Reason
from tenants import rollouts
from tenants.actions import restrictions, space_plans
from tenants.actions import rollouts as actions
from tenants.models import AddressSpace, EngineRelease, Rollout, Tenant
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra.base import EngineImages
from workers.messaging.brokers import broker_xml, render
from workers.messaging.brokers.desired import DesiredBroker, EngineLayout
from workers.messaging.routers import config
from workers.reconcile import loop
from workers.reconcile.outcome import Wait
from workers.rollouts import fleet, release
from workers.rollouts.fleet import Policy

pytestmark = pytest.mark.django_db

POLICY = Policy(wave=2, budget=2, patience=timedelta(minutes=15), first_wave=2)


@pytest.fixture
def tenant() -> Tenant:
    return rows.make_tenant()


@pytest.fixture
def spaces(world: World, tenant: Tenant) -> list[AddressSpace]:
    """Four settled spaces of both types, on the first release there was."""
    world.infra.images = EngineImages("broker:1", "router:1")
    advance(world)
    kinds = ("brokered", "standard", "brokered", "standard")
    made = [rows.make_space(tenant, f"space-{n}", kind) for n, kind in enumerate(kinds)]
    for space in made:
        if space.type == "standard":
            rows.make_address(space, "orders")
    settle_all(world, made)
    return made


def advance(world: World) -> None:
    """Take the step that the workers of this version take."""
    fleet.advance(release.configured(world.infra, world.ports.routing), POLICY, world.now)


def settle_all(world: World, spaces: Sequence[AddressSpace]) -> None:
    for space in spaces:
        world.settle(space)


def starts(world: World) -> list[int]:
    """Return how often each instance was started, brokers and routers."""
    return sorted(instance.starts for instance in world.infra.instances.values())


def use_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a version of Waypost whose brokers log in another way and whose routers name policies."""
    monkeypatch.setattr(render, "_LOG", render._LOG + "# another\n")
    policy = config._policy
    monkeypatch.setattr(
        config, "_policy", lambda *sold: [("policy", {"maxConnections": 9}), *policy(*sold)]
    )


def test_another_template_of_a_cold_file_goes_in_waves(
    world: World, spaces: list[AddressSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_other_files(monkeypatch)

    for space in spaces:
        world.pass_full(space)
    before = starts(world)
    advance(world)
    settle_all(world, spaces)
    between = starts(world)
    for _ in range(4):
        advance(world)
        settle_all(world, spaces)

    assert before == [1] * 6
    assert between == [1, 1, 1, 2, 2, 2], "a wave is one brokered and one standard space"
    assert starts(world) == [2] * 6
    done = rollouts.latest()
    assert done is not None
    assert (done.state, done.release.number) == ("Done", 2)
    assert {address_space.phase for address_space in AddressSpace.objects.all()} == {"Active"}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (render, "_LOGIN"),
        (render, "_LOG"),
        (render, "_MANAGEMENT"),
        (render, "_BOOTSTRAP"),
    ],
)
def test_every_cold_template_of_a_broker_is_in_the_shape(
    world: World, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    world.infra.images = EngineImages("broker:1")
    before = release.configured(world.infra, world.ports.routing).template_hash

    monkeypatch.setattr(module, name, getattr(module, name) + " ")

    assert release.configured(world.infra, world.ports.routing).template_hash != before


def test_what_is_read_at_the_start_of_broker_xml_and_of_routers_is_in_the_shape(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.infra.images = EngineImages("broker:1")
    shapes = [release.configured(world.infra, world.ports.routing).template_hash]

    monkeypatch.setitem(broker_xml._FIXED, "journal-file-size", "2M")
    shapes.append(release.configured(world.infra, world.ports.routing).template_hash)
    monkeypatch.setattr(config, "_MODE", "edge")
    shapes.append(release.configured(world.infra, world.ports.routing).template_hash)
    world.engine = "qdrouterd"
    shapes.append(release.configured(world.infra, world.ports.routing).template_hash)

    assert len(set(shapes)) == 4


def test_what_is_read_for_certificates_that_clients_are_shown_is_in_the_shape(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.infra.images = EngineImages("broker:1")
    shapes = [release.configured(world.infra, world.ports.routing).template_hash]

    tls, listeners = broker_xml._tls, config._listeners
    monkeypatch.setattr(
        broker_xml, "_tls", lambda at, pair: tls(at, pair) + ";x=1" * (pair == "public")
    )
    shapes.append(release.configured(world.infra, world.ports.routing).template_hash)
    monkeypatch.setattr(
        config,
        "_listeners",
        lambda at, pair: [*listeners(at, pair), *([("x", {})] if pair == "wp-presented" else [])],
    )
    shapes.append(release.configured(world.infra, world.ports.routing).template_hash)

    assert len(set(shapes)) == 3


def test_the_shape_is_of_no_tenant_and_the_same_every_time(
    world: World, spaces: list[AddressSpace]
) -> None:
    before = release.configured(world.infra, world.ports.routing)
    rows.make_address(spaces[0], "more")
    world.pass_full(spaces[0])

    assert release.configured(world.infra, world.ports.routing) == before
    assert len(before.template_hash) == 16


def test_a_local_installation_has_no_shape(world: World) -> None:
    assert release.configured(world.infra, world.ports.routing) == EngineImages()


def test_what_a_tenant_asks_for_does_not_wait_for_the_wave(
    world: World, spaces: list[AddressSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_other_files(monkeypatch)

    space_plans.change(space=spaces[0], space_plan="brokered-medium", by=SYSTEM)
    settle_all(world, spaces)

    assert starts(world) == [1, 1, 1, 1, 1, 2]
    assert AddressSpace.objects.get(pk=spaces[0].pk).phase == "Active"


def test_a_withdrawn_send_restarts_nothing_before_its_wave(
    world: World, spaces: list[AddressSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_other_files(monkeypatch)

    for space in spaces:
        restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
    settle_all(world, spaces)

    assert starts(world) == [1] * 6
    assert {space.observed_generation for space in spaces} == {2}


class Version:
    """The workers of one version: their images, their revision, their templates."""

    def __init__(
        self, world: World, patch: pytest.MonkeyPatch, settings: Any, revision: int
    ) -> None:
        self.revision = revision
        self._world, self._patch, self._settings = world, patch, settings
        self._image = f"broker:{revision}"
        self._log = f"{render._LOG}# version {revision}\n"

    def act(self, spaces: Sequence[AddressSpace] = ()) -> None:
        """Take a step of the rollout and reconcile the spaces, as this version."""
        self._settings.REVISION = self.revision
        self._world.infra.images = EngineImages(self._image, "router:1")
        self._patch.setattr(render, "_LOG", self._log)
        advance(self._world)
        for space in spaces:
            loop.reconcile(space.id, self._world.ports)
            self._world.now += timedelta(seconds=2)


@pytest.fixture
def versions(world: World, monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[Version]:
    return [Version(world, monkeypatch, settings, revision) for revision in (4, 5)]


@pytest.fixture
def moved(world: World, tenant: Tenant, versions: list[Version]) -> list[AddressSpace]:
    """Three spaces, two of them just told to move to what the newer version is configured with."""
    old, new = versions
    old.act()
    made = [rows.make_space(tenant, f"space-{n}") for n in range(3)]
    for _ in range(3):
        old.act(made)
    new.act()
    return made


def test_an_older_worker_that_comes_back_begins_nothing(
    versions: list[Version], moved: list[AddressSpace]
) -> None:
    old, new = versions
    for _ in range(3):
        old.act()
        new.act()

    begun = Rollout.objects.order_by("id").values_list("release__number", "state", "revision")
    assert list(begun) == [(1, "Done", 4), (2, "Running", 5)]
    assert EngineRelease.objects.count() == 2


def test_an_older_worker_says_so(versions: list[Version], moved: list[AddressSpace]) -> None:
    with capture_logs() as events:
        versions[0].act()

    told = [(event["event"], event["revision"]) for event in events if "revision" in event]
    assert told == [("rollouts are left to newer workers", 4)]


def test_an_older_worker_restarts_nothing_that_the_newer_one_moved(
    world: World, versions: list[Version], moved: list[AddressSpace]
) -> None:
    old, new = versions

    old.act(moved)
    by_old = starts(world)
    outcome = loop.reconcile(moved[0].id, world.ports)
    new.act(moved)
    by_new = starts(world)
    for _ in range(6):
        old.act(moved)
        new.act(moved)

    assert by_old == [1, 1, 1]
    assert isinstance(outcome, Wait)
    assert outcome.reason is Reason.UPGRADE_UNDER_WAY
    assert by_new == [1, 2, 2]
    assert starts(world) == [2, 2, 2]
    latest = rollouts.latest()
    assert latest is not None
    assert (latest.release.number, latest.state) == (2, "Done")


def test_an_older_worker_writes_nothing_to_a_space_that_was_moved(
    world: World,
    versions: list[Version],
    moved: list[AddressSpace],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = versions
    rendered = render.files

    def with_older_live_files(broker: DesiredBroker, place: EngineLayout) -> dict[str, str]:
        files = dict(rendered(broker, place))
        return {**files, "broker.xml": f"{files['broker.xml']}<!-- older -->"}

    for _ in range(6):
        new.act(moved)
    before = AddressSpace.objects.values().get(pk=moved[0].pk)
    files = {key: instance.spec.files for key, instance in world.infra.instances.items()}
    world.now += 2 * loop.FULL_PASS_EVERY
    writes = world.writes

    monkeypatch.setattr(render, "files", with_older_live_files)
    old.act(moved)

    assert world.writes == writes
    assert {key: instance.spec.files for key, instance in world.infra.instances.items()} == files
    assert AddressSpace.objects.values().get(pk=moved[0].pk) == before


def test_a_version_that_was_put_back_is_the_newer_one(
    versions: list[Version], moved: list[AddressSpace]
) -> None:
    old, new = versions
    old.revision = 6  # helm counts on when it rolls back

    old.act(moved)
    new.act(moved)

    latest = rollouts.latest()
    assert latest is not None
    assert (latest.release.broker_image, latest.revision) == ("broker:4", 6)


def test_the_same_configuration_of_a_later_revision_is_no_rollout(
    world: World, moved: list[AddressSpace]
) -> None:
    before = release.configured(world.infra, world.ports.routing)

    fleet.advance(replace(before, revision=9), POLICY, world.now)
    fleet.advance(EngineImages("broker:old", "router:1", "old", 8), POLICY, world.now)

    assert Rollout.objects.count() == 2
    assert rollouts.is_outdated(8)
    assert not rollouts.is_outdated(9)


def test_without_revisions_another_configuration_is_rolled_out(
    world: World, spaces: list[AddressSpace]
) -> None:
    world.infra.images = EngineImages("broker:2", "router:1")

    advance(world)

    assert Rollout.objects.filter(release__broker_image="broker:2", revision=0).exists()


def test_a_roll_back_by_a_person_is_of_no_revision(moved: list[AddressSpace]) -> None:
    back = actions.roll_back(by=SYSTEM)

    assert back.revision == 0
    assert rollouts.is_outdated(4)
