"""The way to the cluster: in a pod its service account, elsewhere the user's kubeconfig."""

from functools import cache
from pathlib import Path
from typing import Any

from kubernetes import config
from kubernetes.client import ApiClient, Configuration

from workers.infra.base import InfraError
from workers.infra.kubernetes import cluster_file
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster


def api() -> Api:
    """Return the cluster's API. Its connections are shared by the whole process.

    Raises:
        InfraError: there is no cluster to be found.
    """
    return Api(_client())


@cache
def cluster(path: Path) -> Cluster:
    """Return what the installation says about its cluster (read once)."""
    return cluster_file.load(path)


@cache
def _client() -> ApiClient:
    wanted = Configuration()
    load: Any = config.load_config
    try:
        load(client_configuration=wanted)
    except config.ConfigException as error:
        raise InfraError(
            "No cluster is known here: run in a pod with a service account, or set KUBECONFIG.",
            reason="ClusterUnknown",
            retry=False,
        ) from error
    return ApiClient(wanted)
