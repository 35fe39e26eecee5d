"""Why a pod is not there: in words, with what to do, in the condition of the space."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.suites.kubernetes.test_rollouts import Site
from tests.support.kubernetes.node import Node
from tests.support.sessions import once
from tests.support.waiting import eventually
from workers.infra.base import Namespace
from workers.infra.kubernetes import observed, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(fake_node: Node) -> Iterator[Node]:
    yield fake_node
    fake_node.homeless.clear()
    fake_node.lost.clear()


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, node: Node, tmp_path: Path) -> Site:
    made = Site(api, replace(wanted_cluster, images=Images(broker="localhost/broker:1")), tmp_path)
    assert isinstance(made.settle(), Done)
    return made


@pytest.fixture
def core(admin: ApiClient) -> Any:
    return client.CoreV1Api(admin)


def forbid_pods(core: Any, namespace: str) -> None:
    """Have a quota of somebody else that leaves room for no pod."""
    quota = {"metadata": {"name": "team"}, "spec": {"hard": {"pods": "0"}}}
    core.create_namespaced_resource_quota(namespace, quota)
    eventually(
        lambda: bool(core.read_namespaced_resource_quota("team", namespace).status.hard),
    )


def test_a_quota_that_is_used_up_is_the_condition_until_there_is_room(
    site: Site, core: Any
) -> None:
    forbid_pods(core, site.namespace)
    core.delete_namespaced_pod("broker-0-0", site.namespace)

    def told() -> bool:
        site.reconcile(0)
        return "exceeded quota: team" in site.ready["message"]

    eventually(told)
    assert site.ready["reason"] == "BrokerDown"
    assert site.ready["message"].startswith(
        "broker-0 is not ready: its pod is not created: a quota of the cluster is used up: raise "
        "it, or free resources. The cluster said: create Pod broker-0-0 in StatefulSet broker-0 "
        "failed"
    )

    core.delete_namespaced_resource_quota("team", site.namespace)
    # The stateful set's controller looks again after a growing pause, or when something changes.
    touched = {"metadata": {"annotations": {"look": "again"}}}
    path = resources.STATEFUL_SET.path(site.namespace, "broker-0")
    site.api._request("PATCH", path, body=touched, content_type="application/merge-patch+json")
    eventually(lambda: isinstance(site.reconcile(), Done), seconds=60)


def test_a_webhook_that_does_not_answer_is_named(
    infra: KubernetesInfra, admin: ApiClient, namespace: Namespace, node: Node
) -> None:
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    hooks: Any = client.AdmissionregistrationV1Api(admin)
    hooks.create_validating_webhook_configuration(
        {
            "metadata": {"name": "away"},
            "webhooks": [
                {
                    "name": "away.example.org",
                    "clientConfig": {"url": "https://127.0.0.1:1/"},
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "timeoutSeconds": 1,
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": namespace.name}
                    },
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["pods"],
                        }
                    ],
                }
            ],
        }
    )
    try:
        eventually(
            lambda: (
                "away.example.org"
                in once(
                    infra, namespace, lambda session: session.ensure_instance(broker(namespace))
                ).trouble
            )
        )
        with infra.open(namespace) as session:
            told = session.ensure_instance(broker(namespace)).trouble
    finally:
        hooks.delete_validating_webhook_configuration("away")

    assert "a webhook of the cluster does not answer: fix it" in told


def test_an_end_that_no_node_confirms_is_the_condition(
    site: Site, node: Node, core: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed, "_POD_ENDS_WITHIN", timedelta(0))
    node.lost.add("broker-0-0")
    core.delete_namespaced_pod("broker-0-0", site.namespace, grace_period_seconds=1)

    def told() -> bool:
        site.reconcile(0)
        return site.ready["reason"] == "BrokerDown"

    eventually(told)
    assert site.ready["message"] == (
        "broker-0 is not ready: its node node-0 does not confirm that the pod ended: bring the "
        "node back, or delete its Node object if it is gone for good."
    )
    core.delete_namespaced_pod("broker-0-0", site.namespace, grace_period_seconds=0)
    node.lost.clear()
    eventually(lambda: isinstance(site.reconcile(), Done))


def test_a_volume_that_no_node_has_is_the_condition(site: Site, node: Node, core: Any) -> None:
    why = "0/3 nodes are available: 3 node(s) had volume node affinity conflict."
    node.homeless["broker-0-0"] = why
    core.delete_namespaced_pod("broker-0-0", site.namespace)

    def told() -> bool:
        site.reconcile(0)
        return site.ready["reason"] == "BrokerDown"

    eventually(told)
    assert site.ready["message"] == (
        f"broker-0 is not ready: Unschedulable: {why} Its volume is on a node that is down or "
        'full: bring the node back, or see "A volume is lost" in docs/operate/disaster.md.'
    )
