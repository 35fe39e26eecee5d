"""The quota of a space on the API server: what is there already is never too much."""

from dataclasses import replace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.waiting import eventually
from workers.infra.base import Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Storage


def test_the_quota_follows_claims_that_are_larger(
    infra: KubernetesInfra,
    admin: ApiClient,
    api: Api,
    wanted_cluster: Cluster,
    namespace: Namespace,
    fake_node: Node,
) -> None:
    """By hand, or from the days when the configured size was larger."""

    def allowed() -> str:
        live = look.find(api, resources.RESOURCE_QUOTA, namespace.name, "waypost")
        assert live is not None
        return str(live["spec"]["hard"]["requests.storage"])

    core: Any = client.CoreV1Api(admin)
    storage: Any = client.StorageV1Api(admin)
    storage.create_storage_class(
        {
            "metadata": {"name": "grows"},
            "provisioner": "example.org/none",
            "allowVolumeExpansion": True,
        }
    )
    larger = KubernetesInfra(api, replace(wanted_cluster, storage=Storage(7, "grows")))
    with larger.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))
    eventually(lambda: bool(look.listed(api, resources.VOLUME_CLAIM, namespace.name, {})))
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    assert allowed() == "17Gi"

    raised = {"spec": {"hard": {"requests.storage": "30Gi"}}}
    core.patch_namespaced_resource_quota("waypost", namespace.name, raised)
    # Its controller counts again for that; a count that is under way would forget the next one.
    eventually(lambda: quota_status(api, namespace)["hard"]["requests.storage"] == "30Gi")
    core.patch_namespaced_persistent_volume_claim_status(
        "data-broker-0-0", namespace.name, {"status": {"phase": "Bound"}}
    )
    grown = {"spec": {"resources": {"requests": {"storage": "9500Mi"}}}}
    core.patch_namespaced_persistent_volume_claim("data-broker-0-0", namespace.name, grown)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    assert allowed() == "19740Mi"


def test_a_pod_that_is_counted_twice_hinders_no_other(
    infra: KubernetesInfra, admin: ApiClient, api: Api, namespace: Namespace, fake_node: Node
) -> None:
    """As when the stateful set's controller makes a pod again that it does not see yet."""
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))
    eventually(lambda: look.find(api, resources.POD, namespace.name, "broker-0-0") is not None)
    eventually(lambda: quota_status(api, namespace).get("used", {}).get("pods") == "1")
    pod = look.find(api, resources.POD, namespace.name, "broker-0-0") or {}
    again = {"metadata": {"name": "broker-0-0"}, "spec": pod["spec"]}
    core: Any = client.CoreV1Api(admin)
    with pytest.raises(ApiException, match="already exists"):
        core.create_namespaced_pod(namespace.name, again)

    with infra.open(namespace) as session:
        session.ensure_instance(replace(broker(namespace), name="broker-1"))

    eventually(lambda: look.find(api, resources.POD, namespace.name, "broker-1-0") is not None)
    assert quota_status(api, namespace)["used"]["pods"] == "3"


def quota_status(api: Api, namespace: Namespace) -> dict[str, Any]:
    quota = look.find(api, resources.RESOURCE_QUOTA, namespace.name, "waypost") or {}
    found: dict[str, Any] = quota["status"]
    return found
