"""A real API server for the run, with a made-up node, and the adapter under the worker's rights."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config
from kubernetes.client import ApiClient, Configuration

from controlplane.core.instance_names import Kind
from controlplane.embedded import ports
from tests.support.kubernetes import node
from tests.support.kubernetes.counting_api import CountingApi
from tests.support.kubernetes.node import Node
from tests.support.kubernetes.server import build, cluster
from workers.infra.base import InstanceSpec, Namespace, ResourceBudget
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images, Pods

# It takes three minutes of a processor, so `make test-spark` runs it and `make test` does not.
collect_ignore = [] if os.environ.get("WAYPOST_TEST_SPARK_PODS") else ["test_spark.py"]

BUDGET = ResourceBudget(brokers=2, broker_memory_mb=128, routers=0)
WITH_ROUTERS = ResourceBudget(brokers=2, broker_memory_mb=128, routers=2)


@pytest.fixture(scope="package")
def kubeconfig() -> Iterator[Path]:
    """An administrator's kubeconfig: of the cluster that is named, else of a throw-away one."""
    named = os.environ.get("WAYPOST_TEST_KUBECONFIG")
    if named:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory(prefix="wpk-") as folder:
        with cluster.running(Path(folder), build.ensure()) as running:
            yield running.kubeconfig


@pytest.fixture(scope="package")
def admin(kubeconfig: Path) -> ApiClient:
    """The administrator's client."""
    new_client: Any = config.new_client_from_config
    found: ApiClient = new_client(str(kubeconfig))
    if not os.environ.get("WAYPOST_TEST_KUBECONFIG"):
        # The key of a throw-away cluster stays. At each call the client would else look whether it
        # has another one and read the environment, which pytest changes: an error in a thread.
        found.configuration.refresh_api_key_hook = None
    return found


@pytest.fixture(scope="module")
def fake_node(admin: ApiClient) -> Iterator[Node]:
    with node.running(Node(admin)) as running:
        yield running


@pytest.fixture
def wanted_cluster() -> Cluster:
    return Cluster(
        installation="waypost.waypost",
        images=Images(broker="localhost/broker:1", router="localhost/router:1"),
        control_namespace="waypost",
        worker_account="waypost-worker",
        space_role="waypost-space",
        metering_account="waypost-metering",
        metering_role="waypost-metering",
        worker=Pods("waypost", {"app.kubernetes.io/component": "worker"}),
        auth_service=Pods("waypost", {"app.kubernetes.io/component": "auth"}),
        auth_port=5671,
    )


@pytest.fixture
def api(admin: ApiClient) -> Api:
    """The API for looking from outside."""
    return Api(admin)


@pytest.fixture
def counting(admin: ApiClient) -> CountingApi:
    """The API that the adapter under test uses."""
    return CountingApi(admin)


@pytest.fixture
def infra(counting: CountingApi, wanted_cluster: Cluster) -> KubernetesInfra:
    return KubernetesInfra(counting, wanted_cluster)


@pytest.fixture
def unreachable() -> ApiClient:
    """A client of a cluster that is away."""
    return ApiClient(Configuration(host=f"https://127.0.0.1:{ports.free_port()}"))


def broker(namespace: Namespace, **files: str) -> InstanceSpec:
    """Return a broker with small files; ``files`` replaces some."""
    return InstanceSpec(
        namespace,
        Kind.BROKER,
        "broker-0",
        {"broker.xml": "<x/>", "login.config": "x", "server.key": "secret", **files},
        live_files=frozenset({"broker.xml"}),
        secret_files=frozenset({"server.key"}),
    )


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Namespace:
    """A namespace of the test's own."""
    slug = request.node.name.replace("_", "-")[:40].strip("-").split("[")[0]
    return Namespace(f"wp-{slug}", "ten_1", f"spc_{slug[-20:].strip('-')}")
