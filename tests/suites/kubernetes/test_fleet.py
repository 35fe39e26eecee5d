"""Waves of a release over spaces on a real API server, and routers that come and go."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from plans.models import SpacePlan
from tenants import rollouts
from tenants.models import AddressSpace, Rollout
from tests.suites.kubernetes.test_rollouts import PodBrokers, PodRouters
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.reconcile import patience, rows
from tests.support.reconcile.fake_routers import fake_routing
from tests.support.reconcile.fakes import FakeMetering
from tests.support.waiting import eventually
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.infra.kubernetes.reported import Reported
from workers.reconcile import loop
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports
from workers.rollouts import fleet, release
from workers.rollouts.fleet import Policy

pytestmark = pytest.mark.django_db

GOOD, BAD = "localhost/broker:1", "localhost/broker:missing"


@pytest.fixture
def node(fake_node: Node) -> Iterator[Node]:
    yield fake_node
    fake_node.missing.clear()


class Fleet:
    """Spaces on the test API server under one installation's configuration."""

    def __init__(self, api: Api, cluster: Cluster, folder: Path) -> None:
        self._api = api
        self.cluster = cluster
        self._folder = folder
        self._brokers = PodBrokers(api)
        self.routers = PodRouters(api)
        self.metering = FakeMetering()
        self.tenant = rows.make_tenant()

    @property
    def infra(self) -> KubernetesInfra:
        return KubernetesInfra(self._api, self.cluster)

    def use_image(self, image: str) -> None:
        self.cluster = replace(self.cluster, images=Images(broker=image, router="localhost/r:1"))

    @property
    def ports(self) -> Ports:
        return Ports(
            infra=self.infra,
            brokers=self._brokers,
            routers=self.routers,
            routing=fake_routing("qdrouterd"),
            metering=self.metering,
            clock=timezone.now,
            identities_dir=self._folder,
        )

    def reconcile(self, space: AddressSpace, seconds: float = 30) -> object:
        outcome = loop.reconcile(space.id, self.ports, budget_seconds=seconds)
        space.refresh_from_db()
        return outcome

    def settle(self, space: AddressSpace) -> object:
        """Reconcile, as the beat does when it is due, for as long as the space waits."""
        outcome = patience.look(space.id, self.ports)
        space.refresh_from_db()
        return outcome

    def advance(self, *, later: timedelta = timedelta(0)) -> Rollout:
        policy = Policy(wave=1, budget=1, patience=timedelta(minutes=15))
        fleet.advance(
            release.configured(self.ports.infra, self.ports.routing), policy, timezone.now() + later
        )
        found = rollouts.latest()
        assert found is not None
        return found

    def find(
        self, resource: resources.Resource[Reported], space: AddressSpace
    ) -> list[dict[str, Any]]:
        """Return what there is of a kind in a space."""
        selector = {"waypost.io/space": space.id, "app.kubernetes.io/instance": "broker-0"}
        (namespace,) = look.listed(
            self._api, resources.NAMESPACE, None, {"waypost.io/space": space.id}
        )
        if resource is resources.STATEFUL_SET:
            selector.pop("app.kubernetes.io/instance")
        return list(look.listed(self._api, resource, look.name_of(namespace), selector))

    def image(self, space: AddressSpace) -> str:
        (pod,) = self.find(resources.POD, space)
        return str(pod["spec"]["containers"][0]["image"])


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, node: Node, tmp_path: Path) -> Fleet:
    made = Fleet(api, wanted_cluster, tmp_path)
    made.use_image(GOOD)
    return made


@pytest.mark.drill
def test_a_bad_image_reaches_one_wave_and_is_rolled_back(site: Fleet, node: Node) -> None:
    site.advance()
    spaces = [rows.make_space(site.tenant, name) for name in ("one", "two")]
    for space in spaces:
        assert isinstance(site.settle(space), Done)
    site.use_image(BAD)
    node.missing.add(BAD)

    # the whole fleet is looked at, and nobody takes what was not offered to it
    site.advance()

    def told() -> bool:
        for space in spaces:
            site.reconcile(space, 0)
        return "ImagePullBackOff" in str([space.conditions for space in spaces])

    eventually(told)
    for space in spaces:
        site.reconcile(space, 2)
    assert sorted(map(site.image, spaces)) == [GOOD, BAD]
    stopped = site.advance()

    assert stopped.state == "Stopped"
    assert "ImagePullBackOff: no image localhost/broker:missing" in stopped.reason
    # The broken space goes back by itself, and the other one was never changed.
    for space in spaces:
        assert isinstance(site.settle(space), Done)
    assert list(map(site.image, spaces)) == [GOOD, GOOD]
    assert site.advance().state == "Stopped"


@pytest.mark.drill
def test_routers_come_and_go_by_the_plan(site: Fleet) -> None:
    space = rows.make_space(site.tenant, kind="standard")
    rows.make_address(space, "orders")
    assert isinstance(site.settle(space), Done)
    plan = SpacePlan.objects.get(pk=space.space_plan_id)

    seen = []
    for count in (2, 1):
        plan.definition["routers"] = count
        plan.save()
        AddressSpace.objects.filter(pk=space.pk).update(generation=F("generation") + 1)
        assert isinstance(site.settle(space), Done)
        found = site.find(resources.STATEFUL_SET, space)
        seen.append(sorted(look.name_of(pod) for pod in found))

    assert seen == [["broker-0", "router-0", "router-1"], ["broker-0", "router-0"]]
    assert site.metering.restarts == [(space.id, "router-1")]


def test_another_size_of_volumes_is_for_new_ones(site: Fleet) -> None:
    space = rows.make_space(site.tenant)
    assert isinstance(site.settle(space), Done)
    storage = replace(site.cluster.storage, size_gb=9, class_name="fast")
    site.cluster = replace(site.cluster, storage=storage)

    outcome = site.reconcile(space)

    (stateful_set,) = site.find(resources.STATEFUL_SET, space)
    (claim,) = stateful_set["spec"]["volumeClaimTemplates"]
    assert isinstance(outcome, Done)
    assert claim["spec"]["resources"]["requests"]["storage"] == "5Gi"
