"""Choose the adapter of the port ``Infra``: local processes or a Kubernetes cluster."""

from pathlib import Path

from django.conf import settings

from controlplane.core.errors import Invalid
from workers.infra.backup_port import Snapshots
from workers.infra.base import Infra, Watch


def current() -> Infra:
    """Return the adapter that ``settings.INFRA`` names; it sends no request.

    The adapters keep no state, and all calls in a process share the connections to the cluster. So
    the call is cheap, and callers need not keep the adapter.

    Raises:
        Invalid: ``infra.unknown``: the setting names no adapter; ``infra.not_installed``: the local
            adapter is not part of this image; ``cluster_file.invalid``.
        InfraError: ``ClusterUnknown``: neither a kubeconfig nor a service account was found.
    """
    if settings.INFRA == "kubernetes":
        # Imported here: the Kubernetes client takes a second to load, and local mode does not need
        # it.
        from workers.infra.kubernetes import connection
        from workers.infra.kubernetes.adapter import KubernetesInfra

        return KubernetesInfra(connection.api(), connection.cluster(Path(settings.CLUSTER_FILE)))
    if settings.INFRA == "local":
        # Imported here: the image of the control plane holds neither the adapter nor supervisor.
        try:
            from workers.infra.local import adapter
        except ModuleNotFoundError as error:
            raise Invalid(
                f"WAYPOST_INFRA is local, and {error.name} is not installed: set it to "
                "kubernetes, or install the extra `embedded`.",
                code="infra.not_installed",
            ) from error

        return adapter.of_settings()
    raise Invalid(
        f"WAYPOST_INFRA is {settings.INFRA!r}: set it to local or kubernetes.", code="infra.unknown"
    )


def watch() -> Watch | None:
    """Return a watch of all instances, over connections of its own; None without a cluster.

    Raises:
        InfraError: ``ClusterUnknown``: neither a kubeconfig nor a service account was found.
    """
    if settings.INFRA != "kubernetes":
        return None
    # Imported here for the same reason as in ``current``.
    from workers.infra.kubernetes import connection
    from workers.infra.kubernetes.pod_changes import PodChanges

    return PodChanges(connection.separate_api())


def snapshots(installation: str, class_name: str, namespace: str | None) -> Snapshots:
    """Return the snapshots of volumes in the cluster; a single machine has none.

    ``namespace``: old snapshots are deleted only there; None means everywhere.

    Raises:
        InfraError: ``ClusterUnknown``: neither a kubeconfig nor a service account was found.
    """
    # Imported here for the same reason as in ``current``.
    from workers.infra.kubernetes import connection
    from workers.infra.kubernetes.volume_snapshots import VolumeSnapshots

    namespaces = None if namespace is None else [namespace]
    return VolumeSnapshots(connection.api(), installation, class_name, namespaces)
