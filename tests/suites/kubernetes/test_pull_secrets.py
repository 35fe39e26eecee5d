"""The credentials of a private registry reach every space, and nothing else does that way."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.suites.kubernetes.test_rights import is_through, refusal
from tests.support.kubernetes import chart, look
from tests.support.sessions import once
from tests.support.waiting import eventually
from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster

CONTROL = "waypost-pulling"
TYPE = "kubernetes.io/dockerconfigjson"


@pytest.fixture
def core(admin: ApiClient) -> Any:
    chart.make_namespace(admin, CONTROL)
    return client.CoreV1Api(admin)


@pytest.fixture
def pulling(wanted_cluster: Cluster) -> Cluster:
    images = replace(wanted_cluster.images, pull_secrets=["registry"])
    return replace(wanted_cluster, control_namespace=CONTROL, images=images)


def written(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def put(core: Any, name: str, password: str, type_: str = TYPE) -> None:
    """Make the operator's secret, or change it."""
    held = f'{{"auths":{{"r.example.org":{{"auth":"{written(password)}"}}}}}}'
    body = {
        "metadata": {"name": name},
        "type": type_,
        "data": {".dockerconfigjson": written(held)},
    }
    known = [item.metadata.name for item in core.list_namespaced_secret(CONTROL).items]
    if name in known:
        core.patch_namespaced_secret(name, CONTROL, body)
    else:
        core.create_namespaced_secret(CONTROL, body)


def copied(api: Api, namespace: Namespace) -> dict[str, Any] | None:
    return look.find(api, resources.SECRET, namespace.name, "pull-registry")


def test_the_named_secret_is_copied_and_followed(
    core: Any, api: Api, pulling: Cluster, namespace: Namespace
) -> None:
    infra = KubernetesInfra(api, pulling)
    put(core, "registry", "one")
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))
    first = copied(api, namespace)
    put(core, "registry", "two")
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    second = copied(api, namespace)
    core.patch_namespaced_secret("pull-registry", namespace.name, {"data": {"more": "eA=="}})
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    third = copied(api, namespace)
    core.delete_namespaced_secret("pull-registry", namespace.name)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    assert first is not None
    assert second is not None
    assert third is not None
    assert first["type"] == TYPE
    assert first["metadata"]["labels"]["waypost.io/space"] == namespace.space_id
    assert first["data"] != second["data"] == third["data"]
    assert (copied(api, namespace) or {})["data"] == second["data"]
    account = look.find(api, resources.SERVICE_ACCOUNT, namespace.name, "broker")
    assert account is not None
    assert account["imagePullSecrets"] == [{"name": "pull-registry"}]


def test_one_that_is_no_longer_named_goes_and_those_of_instances_stay(
    core: Any, api: Api, pulling: Cluster, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    put(core, "registry", "one")
    infra = KubernetesInfra(api, pulling)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))

    with KubernetesInfra(api, wanted_cluster).open(namespace) as session:
        session.ensure_namespace(BUDGET)

    names = [
        look.name_of(secret) for secret in look.listed(api, resources.SECRET, namespace.name, {})
    ]
    assert names == ["broker-0"]


def test_a_secret_that_is_not_there_is_named_and_a_copy_is_kept(
    core: Any, api: Api, pulling: Cluster, namespace: Namespace
) -> None:
    infra = KubernetesInfra(api, pulling)
    put(core, "registry", "one")
    core.delete_namespaced_secret("registry", CONTROL)

    with pytest.raises(InfraError) as missing:
        with infra.open(namespace) as session:
            session.ensure_namespace(BUDGET)
    put(core, "registry", "one")
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
    core.delete_namespaced_secret("registry", CONTROL)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)

    assert (missing.value.reason, missing.value.retry) == ("PullSecretMissing", False)
    assert f"registry in the namespace {CONTROL}" in str(missing.value)
    assert copied(api, namespace) is not None


def test_a_secret_that_is_no_pull_secret_is_copied_nowhere(
    core: Any, api: Api, pulling: Cluster, namespace: Namespace
) -> None:
    """A mistyped name must not carry the keys of the installation into every space."""
    images = replace(pulling.images, pull_secrets=["keys"])
    put(core, "keys", "sealing", "Opaque")

    with pytest.raises(InfraError) as refused:
        with KubernetesInfra(api, replace(pulling, images=images)).open(namespace) as session:
            session.ensure_namespace(BUDGET)

    assert refused.value.reason == "PullSecretUnfit"
    assert look.listed(api, resources.SECRET, namespace.name, {}) == []


def test_a_space_that_ends_keeps_its_volumes_and_no_credentials(
    core: Any, api: Api, pulling: Cluster, namespace: Namespace
) -> None:
    put(core, "registry", "one")
    infra = KubernetesInfra(api, pulling)
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(namespace))
        session.ensure_endpoint("broker-0")
    before = copied(api, namespace)

    with infra.open(namespace) as session:
        session.delete_endpoint()
        session.delete_instance("broker-0", keep_volume=True)

    assert before is not None
    assert look.listed(api, resources.SECRET, namespace.name, {}) == []
    assert look.find(api, resources.NAMESPACE, None, namespace.name) is not None


@pytest.fixture
def installed(kubeconfig: Path, core: Any, tmp_path: Path) -> Iterator[Cluster]:
    """The cluster as a chart with a pull secret describes it."""
    chart.install(kubeconfig, "pulling", CONTROL, "--set", "imagePullSecrets[0]=registry")
    objects = chart.manifests(chart.helm(kubeconfig, "get", "manifest", "pulling", "-n", CONTROL))
    yield chart.described_cluster(objects, tmp_path)
    chart.helm(kubeconfig, "uninstall", "pulling", "-n", CONTROL)


def test_the_worker_may_read_the_named_secret_and_no_other(
    installed: Cluster, core: Any, admin: ApiClient, api: Api, namespace: Namespace
) -> None:
    put(core, "registry", "one")
    put(core, "keys", "sealing", "Opaque")
    worker = chart.as_account(admin, CONTROL, installed.worker_account)
    infra = KubernetesInfra(Api(worker), installed)

    eventually(
        lambda: is_through(
            lambda: once(infra, namespace, lambda session: session.ensure_namespace(BUDGET))
        )
    )

    assert copied(api, namespace) is not None
    own: Any = client.CoreV1Api(worker)
    assert "forbidden" in refusal(lambda: own.read_namespaced_secret("keys", CONTROL))
    assert "forbidden" in refusal(lambda: own.list_namespaced_secret(CONTROL))
    assert "forbidden" in refusal(lambda: own.delete_namespaced_secret("registry", CONTROL))
