"""No space reaches another one: what the API server admitted, over all pairs of pods."""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kubernetes.client import ApiClient, ApiException, CoreV1Api

from tests.kubernetes import policies
from tests.kubernetes.conftest import ROOM, WITH_ROUTERS, broker
from tests.kubernetes.node import Node
from tests.kubernetes.policies import Pod
from tests.waiting import eventually
from workers.infra import names
from workers.infra.base import InstanceSpec, Kind, Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api

STANDARD_A = Namespace("wp-isolated-a", "ten_a", "spc_a")
STANDARD_B = Namespace("wp-isolated-b", "ten_b", "spc_b")
BROKERED_A = Namespace("wp-isolated-c", "ten_a", "spc_c")
SPACES = (STANDARD_A, STANDARD_B, BROKERED_A)
PORTS = [("TCP", port) for port in (53, 443, 5671, 5672, 5673, 5674, 8080, 8161)] + [("UDP", 53)]


def outside(name: str, namespace: str, labels: dict[str, str]) -> Pod:
    return Pod(name, namespace, labels, {"kubernetes.io/metadata.name": namespace})


COMPONENT = "app.kubernetes.io/component"
OTHERS = [
    outside("worker", "waypost", {COMPONENT: "worker"}),
    outside("auth", "waypost", {COMPONENT: "auth"}),
    outside("web", "waypost", {COMPONENT: "web"}),
    outside("dns", "kube-system", {"k8s-app": "kube-dns"}),
    # A stranger in a namespace of his own who calls himself one of ours.
    outside(
        "stranger",
        "elsewhere",
        {
            "app.kubernetes.io/part-of": "waypost",
            "app.kubernetes.io/managed-by": "waypost",
            COMPONENT: "router",
            "k8s-app": "kube-dns",
        },
    ),
]
# (from, to, port) of everything that may connect, apart from clients.
BETWEEN = {
    ("router", "broker", 5673),
    ("router", "router", 5674),
    ("worker", "broker", 5673),
    ("worker", "router", 5673),
}


@dataclass(frozen=True)
class Admitted:
    """What the cluster holds after a pass over each space."""

    pods: Sequence[Pod]
    policies: Sequence[dict[str, Any]]


def router(namespace: Namespace) -> InstanceSpec:
    files = {"router.json": "[]", "server.key": "k"}
    return replace(broker(namespace), kind=Kind.ROUTER, name="router-0", files=files)


@pytest.fixture
def admitted(infra: KubernetesInfra, api: Api, fake_node: Node) -> Admitted:
    for space in SPACES:
        room = ROOM if space is BROKERED_A else WITH_ROUTERS
        infra.ensure_namespace(space, room)
        infra.ensure_instance(broker(space))
        if room.routers:
            infra.ensure_instance(router(space))
            infra.ensure_instance(replace(router(space), name="router-1"))
        infra.ensure_endpoint(space, "broker-0" if space is BROKERED_A else "router-0")
    eventually(
        lambda: all(each.running for space in SPACES for each in infra.list_instances(space))
    )
    pods = [pod for space in SPACES for pod in _pods(api, space)]
    found = [
        policy for space in SPACES for policy in api.list(resources.NETWORK_POLICY, space.name, {})
    ]
    return Admitted([*pods, *OTHERS], found)


def _pods(api: Api, space: Namespace) -> Iterator[Pod]:
    held = api.find(resources.NAMESPACE, None, space.name)
    assert held is not None
    for each in api.list(resources.POD, space.name, {}):
        metadata = each["metadata"]
        yield Pod(metadata["name"], space.name, metadata["labels"], held["metadata"]["labels"])


def _role(pod: Pod) -> str:
    return pod.labels.get(COMPONENT, pod.name)


def _may(source: Pod, target: Pod, protocol: str, port: int) -> bool:
    """Return what the design says, in words of roles (docs/kubernetes.md)."""
    spaces = {each.name for each in SPACES}
    from_space, to_space = source.namespace in spaces, target.namespace in spaces
    if not from_space and not to_space:
        return True  # none of our business
    if not to_space:
        to_names = target.name == "dns" and port == 53
        to_logins = target.name == "auth" and (protocol, port) == ("TCP", 5671)
        return _role(source) == "router" and (to_names or to_logins)
    if protocol != "TCP":
        return False
    if not from_space:
        is_public = _role(target) == ("broker" if target.namespace == BROKERED_A.name else "router")
        is_worker = source.name == "worker" and (source.name, _role(target), port) in BETWEEN
        return is_worker or (is_public and port == 5671)
    is_same = source.namespace == target.namespace
    return is_same and (_role(source), _role(target), port) in BETWEEN


def test_every_pair_of_pods_may_what_the_design_says(admitted: Admitted) -> None:
    wrong = []
    allowed = 0
    for source, target in itertools.permutations(admitted.pods, 2):
        for protocol, port in PORTS:
            may = policies.allows(admitted.policies, source, target, port, protocol)
            allowed += may
            if may != _may(source, target, protocol, port):
                wrong.append((source.name, source.namespace, target.name, target.namespace, port))

    assert wrong == []
    assert allowed > 0


def test_a_pod_that_breaks_out_is_not_admitted(admitted: Admitted, admin: ApiClient) -> None:
    core: Any = CoreV1Api(admin)
    container = {"name": "x", "image": "x"}
    pod = {"metadata": {"name": "x"}, "spec": {"hostNetwork": True, "containers": [container]}}

    with pytest.raises(ApiException) as refused:
        core.create_namespaced_pod(STANDARD_A.name, pod)

    assert refused.value.status == 403
    assert "violates PodSecurity" in str(refused.value.body)


def test_no_object_names_another_space(admitted: Admitted, api: Api) -> None:
    for space in SPACES:
        foreign = [each for each in SPACES if each != space]
        for resource in resources.APPLIED:
            if not resource.namespaced:
                continue
            for each in api.list(resource, space.name, {}):
                text = json.dumps({**each, "status": None})
                for other in foreign:
                    assert other.name not in text
                    assert other.space_id not in text


def test_hostile_words_reach_no_name_and_no_label() -> None:
    hostile = ["../../etc", "a\nb: c", "{{ .Values.x }}", "$(id)", "kube-system", "é" * 80, "", "-"]
    made = [names.namespace("ten_a", "spc_a", each) for each in hostile]

    for each in made:
        assert each.startswith("wp-")
        assert len(each) <= 63
        assert each.replace("-", "").isalnum()
        assert each.isascii()
