"""The whole loop as the worker's own account, under the rights that the chart gives it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces
from tests.suites.kubernetes.test_rights import RELEASE, described, is_through, worker
from tests.suites.kubernetes.test_rollouts import Site
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.waiting import eventually
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, EndpointChoice, Images
from workers.reconcile.outcome import Done, Failed, Outcome

__all__ = ["described", "worker"]

pytestmark = pytest.mark.django_db


class WorkerSite(Site):
    """A site that is looked at by an administrator and reconciled by the worker."""

    def __init__(self, api: Api, worker: ApiClient, cluster: Cluster, folder: Path) -> None:
        super().__init__(api, cluster, folder)
        self._worker = worker

    @property
    def infra(self) -> KubernetesInfra:
        return KubernetesInfra(Api(self._worker), self.cluster)

    def config_maps_of_worker(self, namespace: str) -> Any:
        """Return what the worker may list in the namespace by its binding there alone."""
        return look.listed(Api(self._worker), resources.CONFIG_MAP, namespace, {})


@pytest.fixture
def site(
    api: Api, worker: ApiClient, described: Cluster, fake_node: Node, tmp_path: Path
) -> WorkerSite:
    images, inside = Images(broker="localhost/broker:1"), EndpointChoice()
    cluster = replace(described, images=images, endpoint=inside)
    made = WorkerSite(api, worker, cluster, tmp_path)
    eventually(lambda: isinstance(made.reconcile(10), Done), seconds=60)
    return made


@pytest.mark.parametrize("is_bound", [True, pytest.param(False, marks=pytest.mark.drill)])
def test_a_space_is_made_and_ended_under_the_workers_rights(
    site: WorkerSite, admin: ApiClient, is_bound: bool
) -> None:
    """Also where somebody took the worker's binding in the namespace away meanwhile."""
    name = site.namespace
    address_spaces.delete(space=site.space, by=SYSTEM)
    if not is_bound:
        rights: Any = client.RbacAuthorizationV1Api(admin)
        rights.delete_namespaced_role_binding("waypost-worker", name)
        eventually(lambda: not is_through(lambda: site.config_maps_of_worker(name)))
    seen: list[Outcome | None] = []

    def ended() -> bool:
        seen.append(site.reconcile(0))
        return site.space.deleted_at is not None

    eventually(ended)
    assert not any(isinstance(outcome, Failed) for outcome in seen), seen
    assert look.find(site.api, resources.NAMESPACE, None, name) is None


@contextmanager
def without_services(admin: ApiClient) -> Iterator[None]:
    """Take from the role of spaces its right to services, as an operator's mistake would."""
    rights: Any = client.RbacAuthorizationV1Api(admin)
    name = f"{RELEASE}-space"
    plain: Any = admin.sanitize_for_serialization(rights.read_cluster_role(name))
    less = [
        {
            **rule,
            "resources": [resource for resource in rule["resources"] if resource != "services"],
        }
        for rule in plain["rules"]
    ]
    rights.patch_cluster_role(name, {"rules": less})
    try:
        yield
    finally:
        rights.patch_cluster_role(name, {"rules": plain["rules"]})


def test_a_right_that_is_missing_is_the_condition_until_it_is_back(
    site: WorkerSite, admin: ApiClient
) -> None:
    pods = [site.uid(name) for name in ("broker-0", "broker-1")]

    with without_services(admin):
        eventually(lambda: isinstance(site.reconcile(0), Failed))
        ready = site.ready

    assert ready["reason"] == "ClusterForbidden"
    assert ready["message"].startswith(
        f"services in {site.namespace}: the worker lacks a right: compare its roles with "
        "docs/operate/rights.md. The cluster said: services is forbidden"
    )
    eventually(lambda: isinstance(site.reconcile(), Done))
    assert [site.uid(name) for name in ("broker-0", "broker-1")] == pods
