"""Connect to the cluster: in a pod with its service account, elsewhere with a kubeconfig."""

from functools import cache
from pathlib import Path
from typing import Any

from kubernetes import config
from kubernetes.client import ApiClient, Configuration

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.infra.kubernetes import cluster_file
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster


def api() -> Api:
    """Return the cluster's API. The whole process shares its connections.

    Raises:
        InfraError: neither a service account nor a kubeconfig was found.
    """
    return Api(_client())


@cache
def cluster(path: Path) -> Cluster:
    """Return the description of the cluster; the file is read once."""
    return cluster_file.load(path)


@cache
def _client() -> ApiClient:
    wanted = Configuration()
    load: Any = config.load_config  # the library does not annotate it
    try:
        load(client_configuration=wanted)
    except config.ConfigException as error:
        raise InfraError(
            "No cluster is configured: run in a pod with a service account, or set KUBECONFIG.",
            reason=Reason.CLUSTER_UNKNOWN,
            retry=False,
        ) from error
    return ApiClient(wanted)
