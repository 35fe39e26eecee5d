"""Connect to the cluster: with a kubeconfig if there is one, else with the pod's service account.

A kubeconfig is the file that ``KUBECONFIG`` names, or ``~/.kube/config``.
"""

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
    """Return the API of the cluster. No request is sent. A process shares its connections.

    Raises:
        InfraError: ``ClusterUnknown``: neither a kubeconfig nor a service account was found.
    """
    return Api(_client())


def separate_api() -> Api:
    """Return the cluster's API over connections of its own.

    For a thread in a process that forks: a child must not inherit a connection that is in use.

    Raises:
        InfraError: as ``api``.
    """
    return Api(_new_client())


@cache
def cluster(path: Path) -> Cluster:
    """Return the description of the cluster in the file ``path``. Each process reads it once.

    Raises:
        Invalid: ``cluster_file.invalid``.
    """
    return cluster_file.load(path)


@cache
def _client() -> ApiClient:
    return _new_client()


def _new_client() -> ApiClient:
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
