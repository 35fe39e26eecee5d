"""Placement profiles on a real API server: what a space plan names is in its pods and volumes."""

from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient, AppsV1Api, CoreV1Api, SchedulingV1Api, V1PriorityClass
from kubernetes.client import V1ObjectMeta as Meta

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.support.kubernetes.counting_api import CountingApi
from workers.infra.base import InfraError, InstanceSpec, Namespace, ResourceBudget
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.cluster import Cluster, PlacementProfile, Toleration

FAST = PlacementProfile(
    node_selector={"disk": "nvme"},
    tolerations=(Toleration("messaging", "Exists", effect="NoSchedule"),),
    priority_class="messaging",
    storage_class="nvme",
    pod_annotations={"example.org/team": "messaging"},
)


@pytest.fixture
def wanted_cluster(wanted_cluster: Cluster, admin: ApiClient) -> Cluster:
    scheduling: Any = SchedulingV1Api(admin)
    if not [
        one for one in scheduling.list_priority_class().items if one.metadata.name == "messaging"
    ]:
        scheduling.create_priority_class(V1PriorityClass(metadata=Meta(name="messaging"), value=9))
    return replace(wanted_cluster, placements={"fast": FAST})


def apply(infra: KubernetesInfra, spec: InstanceSpec, budget: ResourceBudget = BUDGET) -> bool:
    """Make one pass; return whether a restart was deferred."""
    with infra.open(spec.namespace) as session:
        session.ensure_namespace(budget)
        return session.ensure_instance(spec, may_restart=False).restart_deferred


def test_pods_run_where_the_profile_says(
    infra: KubernetesInfra, counting: CountingApi, namespace: Namespace, admin: ApiClient
) -> None:
    spec = replace(broker(namespace), placement="fast", disk_gb=7, cpu_millis=2000)
    budget = replace(BUDGET, disk_gb=7)

    apply(infra, spec, budget)

    made: Any = AppsV1Api(admin).read_namespaced_stateful_set("broker-0", namespace.name).spec
    pod = made.template.spec
    assert pod.node_selector == {"disk": "nvme"}
    (toleration,) = pod.tolerations
    assert (toleration.key, toleration.operator, toleration.effect) == (
        "messaging",
        "Exists",
        "NoSchedule",
    )
    assert pod.priority_class_name == "messaging"
    assert made.template.metadata.annotations["example.org/team"] == "messaging"
    assert pod.containers[0].resources.requests["cpu"] == "2"
    (claim,) = made.volume_claim_templates
    assert claim.spec.storage_class_name == "nvme"
    assert claim.spec.resources.requests["storage"] == "7Gi"
    quota: Any = CoreV1Api(admin).read_namespaced_resource_quota("waypost", namespace.name)
    assert quota.spec.hard["requests.storage"] == "21Gi"
    counting.calls.clear()
    assert not apply(infra, spec, budget)
    written = [path for verb, path in counting.calls if verb != "GET" and "/pods/" not in path]
    assert written == []  # the live objects equal what Waypost wants


def test_another_profile_waits_for_the_instance_s_turn(
    infra: KubernetesInfra, namespace: Namespace
) -> None:
    apply(infra, broker(namespace))

    assert apply(infra, replace(broker(namespace), placement="fast"))


def test_a_broker_without_a_disk_has_no_claim(
    infra: KubernetesInfra, namespace: Namespace, admin: ApiClient
) -> None:
    apply(infra, replace(broker(namespace), persistent=False), replace(BUDGET, persistent=False))

    made: Any = AppsV1Api(admin).read_namespaced_stateful_set("broker-0", namespace.name).spec
    assert not made.volume_claim_templates
    assert "data" in [volume.name for volume in made.template.spec.volumes if volume.empty_dir]


def test_a_profile_that_is_gone_is_named(infra: KubernetesInfra, namespace: Namespace) -> None:
    with pytest.raises(InfraError, match="names the placement 'slow'") as refusal:
        apply(infra, replace(broker(namespace), placement="slow"))

    assert refusal.value.reason == "PlacementUnknown"
