"""The chart on the test API server: installed by helm, and the worker as its service account."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client
from kubernetes.client import ApiClient, ApiException, Configuration

from tests.support.charts import rendered
from tests.support.waiting import eventually
from workers.infra.kubernetes import cluster_file
from workers.infra.kubernetes.cluster import Cluster

_EXISTS = 409


def make_namespace(admin: ApiClient, name: str) -> None:
    """Make a namespace that enforces the restricted pod security standard. Idempotent."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    core: Any = client.CoreV1Api(admin)

    def is_there() -> bool:
        try:
            core.create_namespace({"metadata": {"name": name, "labels": labels}})
        except ApiException as error:
            if error.status != _EXISTS:
                raise
        live = core.list_namespace(field_selector=f"metadata.name={name}").items
        return any(object_.metadata.deletion_timestamp is None for object_ in live)

    eventually(is_there)  # one that ends is waited for


def helm(kubeconfig: Path, *arguments: str) -> str:
    """Run helm on the cluster and return what it prints."""
    ran = rendered.run(*arguments, environment={**os.environ, "KUBECONFIG": str(kubeconfig)})
    assert ran.returncode == 0, ran.stderr
    printed: str = ran.stdout
    return printed


def install(kubeconfig: Path, release: str, namespace: str, *options: str) -> str:
    """Install the release, or upgrade it."""
    arguments = ["upgrade", "--install", release, str(rendered.CHART), "-n", namespace]
    return helm(kubeconfig, *arguments, "-f", str(rendered.TRIAL), *options)


def described_cluster(objects: Sequence[rendered.Object], folder: Path) -> Cluster:
    """Return the cluster as the worker would read it from the rendered config map."""
    (held,) = [object_ for object_ in objects if "cluster.yaml" in (object_.get("data") or {})]
    path = folder / "cluster.yaml"
    path.write_text(held["data"]["cluster.yaml"])
    return cluster_file.load(path)


def as_account(admin: ApiClient, namespace: str, name: str) -> ApiClient:
    """Return a client that is the service account, by a token of its own."""
    core: Any = client.CoreV1Api(admin)
    request = {"spec": {"expirationSeconds": 3600}}
    token = core.create_namespaced_service_account_token(name, namespace, request).status.token
    known = admin.configuration
    wanted = Configuration(host=known.host)
    wanted.ssl_ca_cert = known.ssl_ca_cert
    wanted.api_key = {"authorization": f"Bearer {token}"}
    return ApiClient(wanted)


def manifests(text: str) -> list[rendered.Object]:
    """Return the objects of what helm printed."""
    return rendered.parse(text)


def write_kubeconfig(path: Path, account: ApiClient) -> Path:
    """Write a kubeconfig with the token of ``as_account``; return its path."""
    known = account.configuration
    token = known.api_key["authorization"].removeprefix("Bearer ")
    cluster = {"server": known.host, "certificate-authority": known.ssl_ca_cert}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "account",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "account", "user": {"token": token}}],
        "contexts": [{"name": "account", "context": {"cluster": "cluster", "user": "account"}}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config))
    return path
