"""Changes of running spaces on a real API server: one pod at a time, and only behind readiness."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from controlplane.core import phases
from controlplane.core.instance_names import Kind
from plans.models import SpacePlan
from tenants.models import AddressSpace, Broker
from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.reconcile import patience, rows
from tests.support.reconcile.fake_routers import FakeRouter, FakeRouters, fake_routing
from tests.support.reconcile.fakes import FakeBroker, FakeBrokers, FakeInfra, FakeMetering
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers.infra.base import Namespace
from workers.infra.kubernetes import resources, sizes
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.ports import Ports

pytestmark = pytest.mark.django_db

_MERGE = "application/merge-patch+json"


@pytest.fixture
def node(fake_node: Node) -> Iterator[Node]:
    yield fake_node
    fake_node.withheld.clear()
    fake_node.missing.clear()


class PodBrokers(FakeBrokers):
    """The broker driver over brokers that are there while their pod is ready."""

    def __init__(self, api: Api) -> None:
        super().__init__(FakeInfra())
        self._api = api

    def _at(self, target: ManagementTarget) -> FakeBroker:
        name, namespace = target.host.split(".")[:2]
        if not is_ready(self._api, namespace, name):
            raise Unreachable("nobody there")
        return self.brokers.setdefault((namespace, name), FakeBroker())


class PodRouters(FakeRouters):
    """The router driver over routers that are there while their pod is ready."""

    def __init__(self, api: Api) -> None:
        super().__init__(FakeInfra(), timezone.now)
        self._api = api

    def _at(self, target: ManagementTarget) -> FakeRouter:
        name, namespace = target.host.split(".")[:2]
        if not is_ready(self._api, namespace, name):
            raise Unreachable("nobody there")
        return self.routers.setdefault((namespace, name), FakeRouter())


class Site:
    """A space on the test API server, and what is done to it. None is given: one of two brokers."""

    def __init__(
        self, api: Api, cluster: Cluster, folder: Path, space: AddressSpace | None = None
    ) -> None:
        self.api = api
        self.cluster = cluster
        self._folder = folder
        self._brokers = PodBrokers(api)
        self._routers = PodRouters(api)
        self.space = space or _of_two_brokers()

    @property
    def infra(self) -> KubernetesInfra:
        return KubernetesInfra(self.api, self.cluster)

    @property
    def ports(self) -> Ports:
        return Ports(
            infra=self.infra,
            brokers=self._brokers,
            routers=self._routers,
            routing=fake_routing("qdrouterd"),
            metering=FakeMetering(),
            clock=timezone.now,
            identities_dir=self._folder,
        )

    def reconcile(self, seconds: float = 30) -> Outcome | None:
        outcome = loop.reconcile(self.space.id, self.ports, budget_seconds=seconds)
        self.space.refresh_from_db()
        return outcome

    def settle(self) -> Outcome | None:
        """Reconcile, as the beat does when it is due, for as long as the space waits."""
        outcome = patience.look(self.space.id, self.ports)
        self.space.refresh_from_db()
        return outcome

    def look_until(self, holds: Callable[[], object]) -> None:
        """Look at the space again and again until it holds."""

        def looked() -> object:
            self.reconcile(0)
            return holds()

        eventually(looked)

    def use_image(self, image: str) -> None:
        self.cluster = replace(self.cluster, images=Images(broker=image))

    def pod(self, name: str) -> dict[str, Any]:
        return look.find(self.api, resources.POD, self.namespace, f"{name}-0") or {}

    @property
    def namespace(self) -> str:
        ours = {"waypost.io/space": self.space.id}
        (found,) = look.listed(self.api, resources.NAMESPACE, None, ours)
        return look.name_of(found)

    def images(self) -> list[str]:
        """Return the image of each broker's pod; of one that is just being made again, none."""
        return [container.get("image", "") for container in self._containers()]

    def memory(self) -> list[str]:
        return [
            container.get("resources", {}).get("limits", {}).get("memory", "")
            for container in self._containers()
        ]

    def _containers(self) -> list[dict[str, Any]]:
        pods = [self.pod(name) for name in ("broker-0", "broker-1")]
        return [pod["spec"]["containers"][0] if pod else {} for pod in pods]

    def uid(self, name: str) -> str:
        return str(self.pod(name)["metadata"]["uid"])

    @property
    def ready(self) -> dict[str, str]:
        """The condition as staff read it."""
        ready = phases.find_condition(self.space.conditions, "Ready")
        assert ready is not None
        return {
            "status": ready["status"],
            "reason": ready["reason"],
            "message": phases.of_staff(ready),
        }


def _of_two_brokers() -> AddressSpace:
    space = rows.make_space(rows.make_tenant())
    Broker.objects.create(space=space, ordinal=1)
    return space


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, node: Node, tmp_path: Path) -> Site:
    made = Site(api, replace(wanted_cluster, images=Images(broker="localhost/broker:1")), tmp_path)
    assert isinstance(made.settle(), Done)
    return made


def is_ready(api: Api, namespace: str, name: str) -> bool:
    pod = look.find(api, resources.POD, namespace, f"{name}-0") or {}
    conditions = pod.get("status", {}).get("conditions", [])
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )


def resize(space: AddressSpace, plan: str) -> None:
    AddressSpace.objects.filter(pk=space.pk).update(
        space_plan=SpacePlan.objects.get(key=plan), generation=F("generation") + 1
    )


def test_what_needs_a_restart_waits_for_its_turn(
    infra: KubernetesInfra, api: Api, namespace: Namespace, node: Node
) -> None:
    def uid() -> str:
        pod = look.find(api, resources.POD, namespace.name, "broker-0-0") or {}
        return str(pod.get("metadata", {}).get("uid"))

    def files() -> dict[str, str]:
        found: dict[str, str] = {}
        for name in ("broker-0", "broker-0-main"):
            found |= (look.find(api, resources.CONFIG_MAP, namespace.name, name) or {})["data"]
        return found

    former = broker(namespace)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        assert not session.ensure_instance(former, may_restart=False).restart_deferred
    eventually(lambda: listed(infra, namespace)[0].running)
    first = uid()
    wanted = broker(namespace, **{"broker.xml": "<new/>", "login.config": "new"})
    for spec in (wanted, replace(former, memory_mb=256)):
        with infra.open(namespace) as session:
            session.ensure_namespace(BUDGET)
            held = session.ensure_instance(spec, may_restart=False)
        assert (held.restart_deferred, held.running) == (True, True)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(wanted, may_restart=False)
    assert files() == {"broker.xml": "<new/>", "login.config": "x"}
    assert uid() == first

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        assert not session.ensure_instance(wanted).running
    eventually(lambda: uid() not in (first, "None"))
    assert files() == {"broker.xml": "<new/>", "login.config": "new"}


def test_what_is_held_back_is_repaired_all_the_same(
    infra: KubernetesInfra, api: Api, namespace: Namespace, node: Node
) -> None:
    """Scaled to none by hand, and a file edited that it would start with: as it was before."""
    former = broker(namespace)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(former)
    eventually(lambda: listed(infra, namespace)[0].running)
    api.merge(resources.STATEFUL_SET, namespace.name, "broker-0", {"spec": {"replicas": 0}})
    eventually(lambda: not look.find(api, resources.POD, namespace.name, "broker-0-0"))
    edited = {"data": {"login.config": "anybody", "more": "theirs"}}
    path = resources.CONFIG_MAP.path(namespace.name, "broker-0")
    status, _ = api._request(
        "PATCH", path, {"fieldManager": "kubectl-edit"}, body=edited, content_type=_MERGE
    )
    assert status == 200

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        held = session.ensure_instance(replace(former, memory_mb=256), may_restart=False)

    assert (held.restart_deferred, held.running) == (True, False)
    eventually(lambda: listed(infra, namespace)[0].running)
    pod = look.find(api, resources.POD, namespace.name, "broker-0-0") or {}
    made_of = look.find(api, resources.CONFIG_MAP, namespace.name, "broker-0") or {}
    limits = pod["spec"]["containers"][0]["resources"]["limits"]
    assert limits["memory"] == sizes.quantity(sizes.container_mb(Kind.BROKER, former.memory_mb))
    assert made_of["data"] == {"login.config": "x"}


def test_an_image_change_goes_pod_by_pod(site: Site) -> None:
    site.use_image("localhost/broker:2")

    outcome = site.settle()

    assert isinstance(outcome, Done)
    assert site.images() == ["localhost/broker:2"] * 2


def test_a_second_pod_that_never_becomes_ready_stops_the_rollout_and_is_rolled_back(
    site: Site, node: Node
) -> None:
    second = site.uid("broker-1")
    site.use_image("localhost/broker:missing")
    node.missing.add("localhost/broker:missing")

    site.look_until(lambda: site.ready["reason"] == "RolloutStopped")
    site.reconcile(2)

    assert site.ready["reason"] == "RolloutStopped"
    assert site.images() == ["localhost/broker:missing", "localhost/broker:1"]
    assert site.uid("broker-1") == second
    assert is_ready(site.api, site.namespace, "broker-1")
    assert site.ready["message"] == (
        "broker-0 is not ready: ImagePullBackOff: no image localhost/broker:missing. "
        "broker-1 keeps running as before until then."
    )

    site.use_image("localhost/broker:1")
    assert isinstance(site.settle(), Done)

    assert site.images() == ["localhost/broker:1"] * 2
    assert site.uid("broker-1") == second, "what never changed was restarted"
    assert site.ready["status"] == "True"


def test_a_second_pod_that_stays_unready_without_a_word_stops_it_too(
    site: Site, node: Node
) -> None:
    node.withheld.add("broker-1-0")
    site.use_image("localhost/broker:2")

    site.look_until(
        lambda: (
            site.images() == ["localhost/broker:2"] * 2
            and site.pod("broker-1")["spec"].get("nodeName")
        )
    )
    long_ago = timezone.now() - 2 * loop.FULL_PASS_EVERY
    AddressSpace.objects.update(rolled_at=long_ago, waiting_since=long_ago)
    ready = phases.find_condition(site.space.conditions, "Ready")
    assert ready is not None
    waited = {**ready, "since": (timezone.now() - loop.FULL_PASS_EVERY).isoformat()}
    AddressSpace.objects.update(conditions=[waited])
    site.reconcile(0)

    assert site.images() == ["localhost/broker:2"] * 2
    assert site.ready["reason"] == "BrokerDown"
    assert site.ready["message"] == "broker-1 is not ready: starting."

    # the old image again, while it is still not ready: it alone is replaced first
    first = site.uid("broker-0")
    site.use_image("localhost/broker:1")
    site.look_until(lambda: site.images() == ["localhost/broker:2", "localhost/broker:1"])
    site.reconcile(2)
    assert site.images() == ["localhost/broker:2", "localhost/broker:1"]
    assert site.uid("broker-0") == first
    node.withheld.clear()
    site.api.annotate(resources.POD, site.namespace, "broker-1-0", {"look": "again"})
    assert isinstance(site.settle(), Done)
    assert site.images() == ["localhost/broker:1"] * 2


@pytest.mark.parametrize(
    "plan", [pytest.param("brokered-medium", marks=pytest.mark.drill), "brokered-small"]
)
def test_a_size_change_goes_pod_by_pod_up_and_down(site: Site, node: Node, plan: str) -> None:
    sizes = {"brokered-medium": "832Mi", "brokered-small": "448Mi"}
    (other,) = sizes.keys() - {plan}
    resize(site.space, other)
    assert isinstance(site.settle(), Done)
    assert site.memory() == [sizes[other]] * 2
    node.withheld.add("broker-0-0")
    resize(site.space, plan)

    site.look_until(lambda: site.memory() == [sizes[plan], sizes[other]])
    site.reconcile(2)

    assert site.memory() == [sizes[plan], sizes[other]]
    assert site.ready["reason"] == "RollingOut"
    node.withheld.clear()
    site.api.annotate(resources.POD, site.namespace, "broker-0-0", {"look": "again"})
    assert isinstance(site.settle(), Done)
    assert site.memory() == [sizes[plan]] * 2
