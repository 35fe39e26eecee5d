"""The adapter on a real API server: what it makes, what it leaves alone, what it takes back."""

from dataclasses import replace
from typing import Any

import pytest
from kubernetes import client as k8s
from kubernetes.client import ApiClient, CoreV1Api

from controlplane.core.instance_names import Kind
from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.support.kubernetes import foreign_kinds, look
from tests.support.kubernetes.counting_api import CountingApi
from tests.support.kubernetes.node import Node
from tests.support.sessions import listed, once
from tests.support.waiting import eventually
from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import difference, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, EndpointChoice
from workers.infra.kubernetes.endpoints import registry

EVERYTHING = {
    "RoleBinding": {"waypost-worker", "waypost-metering"},
    "NetworkPolicy": {"deny-all", "clients", "management"},
    "ResourceQuota": {"waypost"},
    "LimitRange": {"waypost"},
    "ServiceAccount": {"broker", "router"},
    "PodDisruptionBudget": {"broker", "router"},
    "Secret": {"broker-0"},
    "ConfigMap": {"broker-0", "broker-0-main"},
    "Service": {"broker-0", "messaging"},
    "StatefulSet": {"broker-0"},
}

OUTSIDE = {"Ingress", "TLSRoute", "Route"}


@pytest.fixture(scope="module")
def with_foreign_kinds(admin: ApiClient) -> None:
    foreign_kinds.make(admin)


def choice_of(kind: str) -> EndpointChoice:
    return EndpointChoice(
        kind, domain="mq.example.org", class_name="haproxy", gateway="edge/public"
    )


def run(infra: KubernetesInfra, namespace: Namespace) -> None:
    """One pass over a space of one broker."""
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))
        session.ensure_endpoint("broker-0")


def names(api: Api, namespace: Namespace) -> dict[str, set[str]]:
    """Return the names of everything of ours in the namespace, by kind."""
    found = {
        resource.kind: {look.name_of(one) for one in look.listed(api, resource, namespace.name, {})}
        for resource in look.APPLIED
        if resource.namespaced
    }
    # What the cluster puts into every namespace by itself.
    found["ServiceAccount"].discard("default")
    found["ConfigMap"].discard("kube-root-ca.crt")
    return {kind: held for kind, held in found.items() if held}


def test_a_space_is_exactly_these_objects(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)

    assert names(api, namespace) == EVERYTHING


def test_again_writes_nothing_and_lists_each_kind_once(
    infra: KubernetesInfra, counting: CountingApi, namespace: Namespace, fake_node: Node
) -> None:
    run(infra, namespace)
    eventually(lambda: all(instance.running for instance in listed(infra, namespace)))
    run(infra, namespace)  # the pod is told of its files
    counting.calls.clear()

    run(infra, namespace)

    assert [call for call in counting.calls if call[0] != "GET"] == []
    assert len(counting.calls) == len(set(counting.calls))
    assert not any(path.endswith("/events") for _verb, path in counting.calls)


@pytest.mark.parametrize("memory_mb", [128, 704, 1728])
def test_round_amounts_are_settled_too(
    infra: KubernetesInfra, counting: CountingApi, namespace: Namespace, memory_mb: int
) -> None:
    """1024Mi is written back as 1Gi: what was not written so would be applied for ever."""
    budget = replace(BUDGET, broker_memory_mb=memory_mb)
    spec = replace(broker(namespace), memory_mb=memory_mb)
    for _ in range(2):
        with infra.open(namespace) as session:
            session.ensure_namespace(budget)
            session.ensure_instance(spec)
    counting.calls.clear()

    with infra.open(namespace) as session:
        session.ensure_namespace(budget)
        status = session.ensure_instance(spec, may_restart=False)

    applied = [path for verb, path in counting.calls if verb != "GET" and "/pods/" not in path]
    assert applied == []
    assert not status.restart_deferred


def test_an_instance_becomes_ready_and_goes(
    infra: KubernetesInfra, api: Api, namespace: Namespace, fake_node: Node
) -> None:
    run(infra, namespace)
    eventually(lambda: [instance.running for instance in listed(infra, namespace)] == [True])
    claims = look.listed(api, resources.VOLUME_CLAIM, namespace.name, {})

    with infra.open(namespace) as session:
        session.delete_instance("broker-0")
        session.delete_instance("broker-0")

    eventually(lambda: list(listed(infra, namespace)) == [])
    assert len(claims) == 1
    eventually(lambda: not look.listed(api, resources.VOLUME_CLAIM, namespace.name, {}))
    eventually(lambda: once(infra, namespace, lambda session: session.delete_namespace()))
    assert namespace.name not in infra.list_namespaces()


def test_a_kept_volume_outlives_its_instance_and_ends_with_the_namespace(
    infra: KubernetesInfra, api: Api, namespace: Namespace, fake_node: Node
) -> None:
    run(infra, namespace)
    eventually(lambda: [instance.running for instance in listed(infra, namespace)] == [True])

    for _ in range(2):
        with infra.open(namespace) as session:
            session.delete_instance("broker-0", keep_volume=True)

    eventually(lambda: list(listed(infra, namespace)) == [])
    (claim,) = look.listed(api, resources.VOLUME_CLAIM, namespace.name, {})
    assert "deletionTimestamp" not in claim["metadata"]
    assert namespace.name in infra.list_namespaces()
    eventually(lambda: once(infra, namespace, lambda session: session.delete_namespace()))
    assert look.listed(api, resources.VOLUME_CLAIM, namespace.name, {}) == []


def test_a_live_file_changes_no_pod_and_a_cold_one_replaces_it(
    infra: KubernetesInfra, api: Api, namespace: Namespace, fake_node: Node
) -> None:
    def pod() -> Any:
        return look.find(api, resources.POD, namespace.name, "broker-0-0")

    def boot() -> str:
        with infra.open(namespace) as session:
            return session.list_instances()[0].boot

    def is_up() -> bool:
        with infra.open(namespace) as session:
            return session.list_instances()[0].running

    run(infra, namespace)
    eventually(is_up)
    first = boot()

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace, **{"broker.xml": "<changed/>"}))
    assert boot() == first
    told = pod()["metadata"]["annotations"]["waypost.io/files"]

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace, **{"login.config": "changed"}))
    eventually(lambda: boot() != first and is_up())
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace, **{"login.config": "changed"}))
    assert pod()["metadata"]["annotations"]["waypost.io/files"] != told


def test_a_restart_is_another_life_on_the_same_volume(
    infra: KubernetesInfra, api: Api, namespace: Namespace, fake_node: Node
) -> None:
    run(infra, namespace)
    eventually(lambda: listed(infra, namespace)[0].running)
    with infra.open(namespace) as session:
        first = session.list_instances()[0].boot
    volume = look.listed(api, resources.VOLUME_CLAIM, namespace.name, {})[0]["metadata"]["uid"]

    with infra.open(namespace) as session:
        session.restart_instance("broker-0")

    eventually(
        lambda: (
            listed(infra, namespace)[0].boot not in ("", first)
            and listed(infra, namespace)[0].running
        )
    )
    assert (
        look.listed(api, resources.VOLUME_CLAIM, namespace.name, {})[0]["metadata"]["uid"] == volume
    )


def test_what_is_edited_by_hand_is_taken_back(
    infra: KubernetesInfra, admin: ApiClient, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)
    path = resources.NETWORK_POLICY.path(namespace.name, "clients")
    opened = {"spec": {"ingress": [{}], "egress": [{}], "policyTypes": ["Ingress", "Egress"]}}
    api.annotate(resources.CONFIG_MAP, namespace.name, "broker-0-main", {"note": "mine"})
    CoreV1Api(admin).patch_namespaced_config_map(
        "broker-0-main", namespace.name, {"data": {"broker.xml": "<edited/>", "more": "x"}}
    )
    merge(api, path, opened)
    CoreV1Api(admin).delete_namespaced_secret("broker-0", namespace.name)

    run(infra, namespace)

    policy = look.find(api, resources.NETWORK_POLICY, namespace.name, "clients")
    files = look.find(api, resources.CONFIG_MAP, namespace.name, "broker-0-main")
    assert policy is not None
    assert policy["spec"]["ingress"] == [{"ports": [{"port": 5671, "protocol": "TCP"}]}]
    assert files is not None
    assert files["data"] == {"broker.xml": "<x/>"}
    assert files["metadata"]["annotations"]["note"] == "mine"
    assert names(api, namespace) == EVERYTHING


def test_another_applier_is_named_and_not_fought(
    infra: KubernetesInfra, admin: ApiClient, namespace: Namespace
) -> None:
    run(infra, namespace)
    theirs = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "broker-0", "namespace": namespace.name},
        "spec": {"replicas": 3},
    }
    apply_as(admin, "gitops", theirs)

    with pytest.raises(InfraError) as refused:
        run(infra, namespace)

    assert (refused.value.reason, refused.value.retry) == ("FieldConflict", False)
    assert "gitops" in str(refused.value)
    assert ".spec.replicas" in str(refused.value)


def test_an_orphaned_policy_under_our_labels_is_removed(
    infra: KubernetesInfra, api: Api, admin: ApiClient, namespace: Namespace
) -> None:
    run(infra, namespace)
    orphan = look.find(api, resources.NETWORK_POLICY, namespace.name, "clients")
    assert orphan is not None
    metadata = {
        "name": "orphan",
        "namespace": namespace.name,
        "labels": orphan["metadata"]["labels"],
    }
    apply_as(admin, "waypost", {**orphan, "metadata": metadata})

    run(infra, namespace)

    assert names(api, namespace) == EVERYTHING


@pytest.mark.usefixtures("with_foreign_kinds")
@pytest.mark.parametrize(
    ("kind", "host", "port", "outside"),
    [
        ("service", "messaging.{ns}.svc", 5671, None),
        ("ingress", "{ns}.mq.example.org", 443, "Ingress"),
        ("gateway", "{ns}.mq.example.org", 443, "TLSRoute"),
        ("route", "{ns}.mq.example.org", 443, "Route"),
        ("nodeport", "mq.example.org", None, None),
        ("loadbalancer", "{ns}.mq.example.org", 5671, None),
    ],
)
def test_an_endpoint_of_each_kind(
    api: Api,
    wanted_cluster: Cluster,
    namespace: Namespace,
    kind: str,
    host: str,
    port: int | None,
    outside: str | None,
) -> None:
    namespace = replace(namespace, name=f"wp-endpoint-{kind}")
    infra = KubernetesInfra(api, replace(wanted_cluster, endpoint=choice_of(kind)))
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    with infra.open(namespace) as session:
        found = session.ensure_endpoint("broker-0")

    assert found.host == host.format(ns=namespace.name)
    assert found.port == port or (port is None and found.port >= 30000)
    assert f"messaging.{namespace.name}.svc" in found.extra_names
    # nobody gives balancers addresses here
    assert bool(found.trouble) == (kind == "loadbalancer")
    assert OUTSIDE & names(api, namespace).keys() == ({outside} if outside else set())
    # another kind later leaves nothing of the former behind
    inside = KubernetesInfra(api, wanted_cluster)
    with inside.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        assert session.ensure_endpoint("broker-0").port == 5671
    assert not OUTSIDE & names(api, namespace).keys()


def test_a_deleted_service_gets_its_node_port_again_unless_another_has_it(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    infra = KubernetesInfra(api, replace(wanted_cluster, endpoint=choice_of("nodeport")))
    first, second = (replace(namespace, name=f"wp-kept-port-{n}") for n in (1, 2))
    for one in (first, second):
        with infra.open(one) as session:
            session.ensure_namespace(BUDGET)
    with infra.open(first) as session:
        given = session.ensure_endpoint("broker-0").port
    api.delete(resources.SERVICE, first.name, "messaging")
    wanted = 30000 + (given - 30000 + 7) % 2000  # one that the cluster would hardly choose

    with infra.open(first) as session:
        assert session.ensure_endpoint("broker-0", wanted).port == wanted
    with infra.open(second) as session:
        assert session.ensure_endpoint("broker-0", wanted).port != wanted
        # Outside the range of the cluster, as after an endpoint of another kind.
        assert session.ensure_endpoint("broker-0", 8443).port >= 30000


@pytest.mark.usefixtures("with_foreign_kinds")
@pytest.mark.parametrize("kind", registry.REGISTRY)
def test_an_endpoint_of_each_kind_is_settled(
    counting: CountingApi, wanted_cluster: Cluster, namespace: Namespace, kind: str
) -> None:
    """What the API adds of its own, defaults above all, is no reason to write again."""
    namespace = replace(namespace, name=f"wp-settled-{kind}")
    infra = KubernetesInfra(counting, replace(wanted_cluster, endpoint=choice_of(kind)))
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")
    counting.calls.clear()

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")

    assert [call for call in counting.calls if call[0] != "GET"] == []


@pytest.mark.parametrize("kind", ["ingress", "loadbalancer"])
def test_nothing_leads_to_a_space_whose_endpoint_is_deleted(
    api: Api, wanted_cluster: Cluster, namespace: Namespace, kind: str
) -> None:
    namespace = replace(namespace, name=f"wp-no-endpoint-{kind}")
    choice = EndpointChoice(kind, domain="mq.example.org", class_name="haproxy")
    infra = KubernetesInfra(api, replace(wanted_cluster, endpoint=choice))
    run(infra, namespace)

    for _ in range(2):
        with infra.open(namespace) as session:
            session.delete_endpoint()

    expected = {**EVERYTHING, "Service": {"broker-0"}}
    assert names(api, namespace) == expected
    # deleted before its time (a row that came back from a backup): made again
    run(infra, namespace)
    assert "messaging" in names(api, namespace)["Service"]


def test_a_balancer_without_an_address_yet_is_waited_for(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    choice = EndpointChoice("loadbalancer")
    infra = KubernetesInfra(api, replace(wanted_cluster, endpoint=choice))
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    with pytest.raises(InfraError) as pending:
        with infra.open(namespace) as session:
            session.ensure_endpoint("broker-0")
    assert (pending.value.reason, pending.value.retry) == ("EndpointPending", True)

    merge(
        api,
        resources.SERVICE.path(namespace.name, "messaging") + "/status",
        {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}},
    )
    with infra.open(namespace) as session:
        assert session.ensure_endpoint("broker-0").host == "192.0.2.7"


def test_a_namespace_of_somebody_else_is_left_alone(
    infra: KubernetesInfra, admin: ApiClient, namespace: Namespace
) -> None:
    core: Any = CoreV1Api(admin)
    core.create_namespace({"metadata": {"name": namespace.name, "labels": {"team": "x"}}})

    with pytest.raises(InfraError) as refused:
        with infra.open(namespace) as session:
            session.ensure_namespace(BUDGET)
    with pytest.raises(InfraError, match="does not carry the labels of this space"):
        with infra.open(namespace) as session:
            session.delete_namespace()

    assert refused.value.reason == "NamespaceTaken"
    assert core.read_namespace(namespace.name).metadata.labels["team"] == "x"
    assert core.read_namespace(namespace.name).metadata.deletion_timestamp is None


def test_without_a_router_image_brokered_spaces_only(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    bare = replace(wanted_cluster, images=replace(wanted_cluster.images, router=""))
    infra = KubernetesInfra(api, bare)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    with pytest.raises(InfraError) as refused:
        with infra.open(namespace) as session:
            session.ensure_instance(replace(broker(namespace), kind=Kind.ROUTER, name="router-0"))

    assert refused.value.reason == "RouterImageMissing"
    assert "router.image" in str(refused.value)


def test_files_that_fit_no_object_are_refused_before_anything_changes(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    with pytest.raises(InfraError) as refused:
        with infra.open(namespace) as session:
            session.ensure_instance(broker(namespace, **{"broker.xml": "x" * 1_100_000}))

    assert refused.value.reason == "ConfigurationTooLarge"
    files = look.find(api, resources.CONFIG_MAP, namespace.name, "broker-0-main")
    assert files is not None
    assert files["data"]["broker.xml"] == "<x/>"


def test_a_cluster_that_does_not_answer_is_waited_for(
    kubeconfig: object, wanted_cluster: Cluster, namespace: Namespace, unreachable: ApiClient
) -> None:
    infra = KubernetesInfra(Api(unreachable), wanted_cluster)

    with pytest.raises(InfraError) as away:
        with infra.open(namespace) as session:
            session.ensure_namespace(BUDGET)

    assert (away.value.reason, away.value.retry) == ("ClusterUnreachable", True)


def merge(api: Api, path: str, body: dict[str, Any]) -> None:
    """Edit as a person would."""
    status, answer = api._request(
        "PATCH", path, body=body, content_type="application/merge-patch+json"
    )
    assert status == 200, answer


def apply_as(admin: ApiClient, manager: str, manifest: dict[str, Any]) -> None:
    """Apply by force as another field manager."""
    metadata = manifest["metadata"]
    (resource,) = (one for one in look.APPLIED if one.kind == manifest["kind"])
    path = resource.path(metadata["namespace"], metadata["name"])
    query = {"fieldManager": manager, "force": "true"}
    manifest["metadata"].pop("managedFields", None)
    status, answer = Api(admin)._request(
        "PATCH", path, query, body=manifest, content_type="application/apply-patch+yaml"
    )
    assert status in (200, 201), answer


def test_the_digest_of_an_object_is_of_what_we_want_only() -> None:
    one, two = (
        difference.stamped(k8s.V1Secret(metadata=k8s.V1ObjectMeta(name="x"), data={"a": value}))
        for value in ("1", "2")
    )

    assert resources.metadata_of(one).annotations != resources.metadata_of(two).annotations
