"""The chart's pods and the pods of spaces: the policies of both sides, evaluated together.

What the worker would apply is built from the cluster as the rendered chart describes it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.core.instance_names import Kind
from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, NAMESPACE, Object
from tests.support.kubernetes import policies
from tests.support.kubernetes.chart import described_cluster
from tests.support.kubernetes.policies import Labels, Pod
from workers.infra.base import InstanceSpec, Namespace, ResourceBudget
from workers.infra.kubernetes import isolation, network, pods
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.resources import document_of, metadata_of

STANDARD = Namespace("wp-standard", "ten_a", "spc_a")
BROKERED = Namespace("wp-brokered", "ten_a", "spc_b")
BUDGETS = {STANDARD: ResourceBudget(1, 128, routers=2), BROKERED: ResourceBudget(1, 128, routers=0)}
PORTS = (53, 443, 5353, 5432, 5671, 5673, 5674, 6379, 6443, 7078, 7079, 7080, 8000, 8443)
OWN = {"web", "worker", "metering", "beat", "auth", "migrate", "test"}

Way = tuple[str, str, str, int]


def dns(namespace: str, labels: Labels) -> Pod:
    return Pod("dns", namespace, labels, {"kubernetes.io/metadata.name": namespace})


STRANGER = Pod("stranger", "default", {}, {"kubernetes.io/metadata.name": "default"})
KUBE_DNS = dns("kube-system", {"k8s-app": "kube-dns"})
OPENSHIFT_DNS = dns("openshift-dns", {"dns.operator.openshift.io/daemonset-dns": "default"})
_ROUTER = ("--set", "router.image.repository=r")  # without one no auth service runs
# What each variant has beside the pods of every installation, and its cluster's DNS with its port.
VARIANTS = {
    "trial": ({"database", "queue"}, KUBE_DNS, 53),
    "external": ({"pipeline", "executor"}, KUBE_DNS, 53),
    "objectstore": ({"pipeline", "executor"}, KUBE_DNS, 53),
    "openshift": ({"pipeline"}, OPENSHIFT_DNS, 5353),
    "gateway": (set[str](), KUBE_DNS, 53),
}


def chart_pods(objects: Sequence[Object]) -> Iterator[Pod]:
    """Yield every pod that the chart makes, and the executor that its driver makes."""
    home = {"kubernetes.io/metadata.name": NAMESPACE}
    for object_ in (*objects, *(made for held in objects for made in _executors(held))):
        spec = object_.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        template = object_ if object_["kind"] == "Pod" else spec.get("template")
        if template:
            labels = template["metadata"]["labels"]
            yield Pod(labels["app.kubernetes.io/component"], NAMESPACE, labels, home)


def _executors(held: Object) -> Iterator[Object]:
    text = (held.get("data") or {}).get("executor.yaml")
    if text and held["kind"] == "ConfigMap":
        yield yaml.safe_load(text)


def space_pods(cluster: Cluster, space: Namespace) -> Iterator[Pod]:
    """Yield one pod of each kind that the space has, named ``<type>-<kind>``, and a second router.

    A namespace has the label of its name from the API server.
    """
    home = metadata_of(isolation.namespace_object(space)).labels or {}
    home = {**home, "kubernetes.io/metadata.name": space.name}
    names = ["broker-0", *(f"router-{ordinal}" for ordinal in range(BUDGETS[space].routers))]
    for name in names:
        kind = Kind(name.partition("-")[0])
        made = pods.template(cluster, InstanceSpec(space, kind, name, {}))
        assert made.metadata is not None
        labels = made.metadata.labels or {}
        yield Pod(f"{space.name.removeprefix('wp-')}-{kind.value}", space.name, labels, home)


def placed(objects: Sequence[Object]) -> list[Object]:
    found = [object_ for object_ in objects if object_["kind"] == "NetworkPolicy"]
    return [{**e, "metadata": {**e["metadata"], "namespace": NAMESPACE}} for e in found]


def open_ways(variant: str, folder: Path, *options: str) -> set[Way]:
    """Return every way that has a pod of a space at an end: from, to, protocol, port."""
    others, resolver, _ = VARIANTS[variant]
    objects = rendered.objects(CHART / "ci" / f"{variant}-values.yaml", *_ROUTER, *options)
    cluster = described_cluster(objects, folder)
    own = list(chart_pods(objects))
    assert {pod.name for pod in own} == OWN | others
    inside = [pod for space in BUDGETS for pod in space_pods(cluster, space)]
    rules: list[Any] = placed(objects)
    for space, room in BUDGETS.items():
        rules += [document_of(policy) for policy in network.policies(cluster, space, room)]
    pods = [*own, *inside, resolver, STRANGER]
    return {
        (source.name, target.name, protocol, port)
        for source in pods
        for target in pods
        if source is not target and (source in inside or target in inside)
        for protocol in ("TCP", "UDP")
        for port in PORTS
        if policies.allows(rules, source, target, port, protocol)
    }


def of_spaces(resolver_port: int) -> set[Way]:
    """Return the ways within a space, and out of it."""
    return {
        ("standard-router", "standard-router", "TCP", 5674),
        ("standard-router", "standard-broker", "TCP", 5673),
        ("standard-router", "auth", "TCP", 5671),
        ("standard-router", "dns", "TCP", resolver_port),
        ("standard-router", "dns", "UDP", resolver_port),
    }


MANAGED = ("standard-router", "standard-broker", "brokered-broker")
PUBLIC = ("standard-router", "brokered-broker")
MANAGEMENT = {
    (component, to, "TCP", 5673) for component in ("worker", "metering") for to in MANAGED
}


@pytest.mark.parametrize("variant", sorted(VARIANTS.keys() - {"gateway"}))
def test_worker_and_metering_reach_the_management_of_spaces_and_nobody_else_does(
    variant: str, tmp_path: Path
) -> None:
    expected = of_spaces(VARIANTS[variant][2]) | MANAGEMENT
    expected |= {("worker", "brokered-broker", "TCP", 5671)}  # whether it listens for clients
    outside = {(pod, to, "TCP", 5671) for pod in ("stranger", "dns") for to in PUBLIC}

    assert open_ways(variant, tmp_path) == expected | outside


def test_spaces_keep_the_others_out_where_the_chart_has_no_policies(tmp_path: Path) -> None:
    found = open_ways("gateway", tmp_path)

    clients = {way for way in found if way[1] in PUBLIC and way[2:] == ("TCP", 5671)}
    assert {way[0] for way in clients} == OWN | {"stranger", "dns"}
    assert found - clients == of_spaces(53) | MANAGEMENT


def test_another_port_of_the_auth_service_is_open_to_routers(tmp_path: Path) -> None:
    found = open_ways("trial", tmp_path, "--set", "auth.port=8443")

    assert {way for way in found if way[1] == "auth"} == {("standard-router", "auth", "TCP", 8443)}
