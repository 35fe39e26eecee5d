"""No space reaches another one: what the API server admitted, over all pairs of pods."""

import base64
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient, ApiException, CoreV1Api

from controlplane.core.address_types import AddressSettings
from tenants.models import AddressSpace
from tests.suites.kubernetes.conftest import BUDGET
from tests.suites.kubernetes.test_rollouts import Site
from tests.suites.reconcile.test_counts import want_routers
from tests.support.kubernetes import look, policies
from tests.support.kubernetes.look import Document
from tests.support.kubernetes.node import Node
from tests.support.kubernetes.policies import Pod
from tests.support.reconcile import rows
from workers.infra import names
from workers.infra.base import Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db

# 5675 is for health probes: no pod may connect to it. Its node always may, in every cluster.
PORTS = [("TCP", port) for port in (53, 443, 5671, 5672, 5673, 5674, 5675, 8080, 8161)]
PORTS += [("UDP", 53)]


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
class Made:
    """A space that the reconcile loop made; ``mark`` is in every name that its tenant chose."""

    space: AddressSpace
    namespace: str
    mark: str

    @property
    def words(self) -> set[str]:
        """Return what only objects of this space may say."""
        return {self.namespace, self.space.id, self.mark}


@dataclass(frozen=True)
class Admitted:
    """What the cluster holds after a pass over each space; ``types`` by namespace."""

    pods: Sequence[Pod]
    policies: Sequence[dict[str, Any]]
    types: Mapping[str, str]


def fill(space: AddressSpace, mark: str) -> None:
    """Give the space everything that a tenant writes."""
    rows.make_address(space, f"{mark}-dead")
    dead = f"{mark}-dead" if space.type == "brokered" else ""
    rows.make_address(space, f"{mark}/orders", settings=AddressSettings(dead_letter=dead))
    rows.make_address(space, f"{mark}-news", "topic")
    topic = AddressSettings(topic=f"{mark}-news")
    rows.make_address(space, f"{mark}-reader", "subscription", topic)
    if space.type == "standard":
        want_routers(space, 2)
        rows.make_address(space, f"{mark}-calls", "anycast")
    rows.make_user(space, f"{mark}-alice", (f"{mark}/#", "send recv"))


@pytest.fixture
def made(api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Sequence[Made]:
    """Two spaces of one tenant, one of each type, and one of another tenant."""
    one, another = rows.make_tenant(), rows.make_tenant()
    spaces = {
        "acorn": rows.make_space(one, "apples", kind="standard"),
        "beech": rows.make_space(another, "bananas", kind="standard"),
        "cedar": rows.make_space(one, "cherries", kind="brokered"),
    }
    found = []
    for mark, space in spaces.items():
        fill(space, mark)
        site = Site(api, wanted_cluster, tmp_path, space)
        assert isinstance(site.settle(), Done), space.conditions
        found.append(Made(space, site.namespace, mark))
    return found


@pytest.fixture
def admitted(made: Sequence[Made], api: Api) -> Admitted:
    found = [deployed.namespace for deployed in made]
    pods = [pod for namespace in found for pod in _pods(api, namespace)]
    rules = [
        rule
        for namespace in found
        for rule in look.listed(api, resources.NETWORK_POLICY, namespace, {})
    ]
    types = {deployed.namespace: deployed.space.type for deployed in made}
    return Admitted([*pods, *OTHERS], rules, types)


def _pods(api: Api, namespace: str) -> Iterator[Pod]:
    held = look.find(api, resources.NAMESPACE, None, namespace)
    assert held is not None
    for pod in look.listed(api, resources.POD, namespace, {}):
        metadata = pod["metadata"]
        yield Pod(metadata["name"], namespace, metadata["labels"], held["metadata"]["labels"])


def _role(pod: Pod) -> str:
    return pod.labels.get(COMPONENT, pod.name)


def _may(types: Mapping[str, str], source: Pod, target: Pod, protocol: str, port: int) -> bool:
    """Return what the design says, in words of roles (docs/kubernetes.md)."""
    from_space, to_space = source.namespace in types, target.namespace in types
    if not from_space and not to_space:
        return True  # none of our business
    if not to_space:
        to_names = target.name == "dns" and port == 53
        to_logins = target.name == "auth" and (protocol, port) == ("TCP", 5671)
        return _role(source) == "router" and (to_names or to_logins)
    if protocol != "TCP":
        return False
    if not from_space:
        is_brokered = types[target.namespace] == "brokered"
        is_public = _role(target) == ("broker" if is_brokered else "router")
        is_worker = source.name == "worker" and (source.name, _role(target), port) in BETWEEN
        return is_worker or (is_public and port == 5671)
    is_same = source.namespace == target.namespace
    return is_same and (_role(source), _role(target), port) in BETWEEN


def test_every_pair_of_pods_may_what_the_design_says(admitted: Admitted) -> None:
    wrong = []
    allowed = set()
    for source, target in itertools.permutations(admitted.pods, 2):
        for protocol, port in PORTS:
            may = policies.allows(admitted.policies, source, target, port, protocol)
            if may:
                allowed.add((_role(source), _role(target), port))
            if may != _may(admitted.types, source, target, protocol, port):
                wrong.append((source.name, source.namespace, target.name, target.namespace, port))

    assert wrong == []
    assert allowed > BETWEEN


def test_a_pod_that_breaks_out_is_not_admitted(
    infra: KubernetesInfra, namespace: Namespace, admin: ApiClient
) -> None:
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    core: Any = CoreV1Api(admin)
    container = {"name": "x", "image": "x"}
    pod = {"metadata": {"name": "x"}, "spec": {"hostNetwork": True, "containers": [container]}}

    with pytest.raises(ApiException) as refused:
        core.create_namespaced_pod(namespace.name, pod)

    assert refused.value.status == 403
    assert "violates PodSecurity" in str(refused.value.body)


_KINDS = (*look.APPLIED, resources.POD, resources.VOLUME_CLAIM)
_PEM = re.compile(r"-----BEGIN [A-Z ]+-----\s([^-]+)-----END")


def test_no_object_names_another_space(made: Sequence[Made], api: Api) -> None:
    tenants = {deployed.space.tenant_id for deployed in made}
    for own in made:
        foreign = tenants - {own.space.tenant_id}
        foreign |= {word for other in made if other is not own for word in other.words}
        objects = [readable(text) for text in held(api, own.namespace)]

        for object_ in objects:
            text = json.dumps(object_)
            said = [word for word in foreign if word in text]
            assert said == [], f"{object_['kind']} {look.name_of(object_)}"

        # What was searched is what engines read: files, certificates and secrets say their own.
        files = json.dumps([object_["data"] for object_ in objects])
        secrets = json.dumps([object_["data"] for object_ in objects if is_secret(object_)])
        assert [word for word in own.words if word not in files] == []
        assert "PRIVATE KEY" in secrets
        assert (f"{own.mark}-alice" in secrets) == (own.space.type == "brokered")
    assert len(tenants) == 2


def held(api: Api, namespace: str) -> Sequence[Document]:
    """Return everything in the namespace, whoever made it, and the namespace."""
    one = look.find(api, resources.NAMESPACE, None, namespace)
    assert one is not None
    found = [
        object_
        for kind in _KINDS
        if kind.namespaced
        for object_ in look.listed(api, kind, namespace, {})
    ]
    return [one, *found]


def is_secret(manifest: Document) -> bool:
    return bool(manifest["kind"] == "Secret")


def readable(manifest: Document) -> Document:
    """Return the object with its data as text, and beside each file what its PEM blocks hold."""
    texts = dict(manifest.get("data") or {})
    if is_secret(manifest):
        texts = {name: base64.b64decode(text).decode() for name, text in texts.items()}
    # Names are plain text in DER (X.690: IA5String, UTF8String).
    inside = {
        name: [base64.b64decode(pem).decode("latin-1") for pem in _PEM.findall(text)]
        for name, text in texts.items()
    }
    return {**manifest, "data": [texts, inside]}


def test_hostile_words_reach_no_name_and_no_label() -> None:
    hostile = ["../../etc", "a\nb: c", "{{ .Values.x }}", "$(id)", "kube-system", "é" * 80, "", "-"]
    made = [names.namespace("ten_a", "spc_a", name) for name in hostile]

    for deployed in made:
        assert deployed.startswith("wp-")
        assert len(deployed) <= 63
        assert deployed.replace("-", "").isalnum()
        assert deployed.isascii()
