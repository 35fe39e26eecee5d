"""Killed after any write to the cluster, the next pass ends in the same state."""

import contextlib
from typing import Any

import pytest
from kubernetes.client import ApiClient

from tests.kubernetes.conftest import WITH_ROUTERS, CountingApi, broker
from tests.kubernetes.node import Node
from tests.waiting import eventually
from workers.infra.base import Namespace
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster

_MOST_WRITES = 60
UNDISTURBED = Namespace("wp-killed", "ten_1", "spc_1")


class Killed(BaseException):
    """Nobody catches it, as nobody catches SIGKILL."""


class KillingApi(CountingApi):
    """Dies right after the write number ``after``."""

    after = _MOST_WRITES
    writes = 0

    def _request(self, method: str, path: str, *args: Any, **options: Any) -> tuple[int, Any]:
        answer = super()._request(method, path, *args, **options)
        self.writes += method != "GET"
        if self.writes >= self.after:
            raise Killed
        return answer


def make(infra: KubernetesInfra, namespace: Namespace) -> None:
    infra.ensure_namespace(namespace, WITH_ROUTERS)
    infra.ensure_instance(broker(namespace))
    infra.ensure_endpoint(namespace, "router-0")


def of_instance(api: Api, namespace: Namespace) -> list[str]:
    """Return what is left of the broker: files, keys, name, volume, process."""
    selector = labels.select_instance("broker-0")
    kinds = (*resources.APPLIED[1:], resources.VOLUME_CLAIM, resources.POD)
    return [each.kind for each in kinds if api.list(each, namespace.name, selector)]


def held(api: Api, namespace: Namespace) -> set[str]:
    """Return every object of ours, by kind and name."""
    return {
        f"{each.kind}/{resources.name_of(one)}"
        for each in resources.APPLIED
        if each.namespaced
        for one in api.list(each, namespace.name, labels.OURS)
    }


def writes_of(admin: ApiClient, cluster: Cluster, namespace: Namespace) -> int:
    """Return how many writes an undisturbed pass over nothing takes."""
    api = KillingApi(admin)
    make(KubernetesInfra(api, cluster), namespace)
    return api.writes


def test_killed_after_any_write_of_the_making(
    admin: ApiClient, api: Api, wanted_cluster: Cluster
) -> None:
    count = writes_of(admin, wanted_cluster, UNDISTURBED)
    expected = held(api, UNDISTURBED)
    for after in range(1, count + 1):
        space = Namespace(f"wp-killed-{after}", "ten_1", "spc_1")
        killing = KillingApi(admin)
        killing.after = after
        with pytest.raises(Killed):
            make(KubernetesInfra(killing, wanted_cluster), space)

        make(KubernetesInfra(api, wanted_cluster), space)

        assert held(api, space) == expected
    assert count > 15


def test_killed_after_any_write_of_the_end(
    admin: ApiClient, api: Api, wanted_cluster: Cluster, fake_node: Node
) -> None:
    for after in range(1, 9):
        space = Namespace(f"wp-ended-{after}", "ten_1", "spc_1")
        infra = KubernetesInfra(api, wanted_cluster)
        make(infra, space)
        killing = KillingApi(admin)
        killing.after = after
        with contextlib.suppress(Killed):
            KubernetesInfra(killing, wanted_cluster).delete_instance(space, "broker-0")
        for each in infra.list_instances(space):  # what the next pass finds of it
            infra.delete_instance(space, each.name)
        eventually(lambda space=space: not of_instance(api, space))  # type: ignore[misc]
        eventually(lambda infra=infra, space=space: infra.delete_namespace(space))  # type: ignore[misc]

        assert space.name not in infra.list_namespaces()
