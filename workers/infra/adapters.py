"""Choose the adapter of the port ``Infra`` that this installation uses."""

from pathlib import Path

from django.conf import settings

from controlplane.core.errors import Invalid
from controlplane.embedded.supervisor_client import SupervisorClient
from workers.infra.base import Infra
from workers.infra.local.adapter import LocalInfra


def current() -> Infra:
    """Return the adapter that ``settings.INFRA`` names. The call is cheap: do not keep the result.

    Raises:
        Invalid: ``infra.unknown``, or the cluster file is not valid.
    """
    if settings.INFRA == "kubernetes":
        return _kubernetes()
    if settings.INFRA == "local":
        socket = Path(settings.SUPERVISOR_SOCKET)
        return LocalInfra(settings.STATE_DIR, SupervisorClient(socket, socket.parent / "conf.d"))
    raise Invalid(
        f"WAYPOST_INFRA is {settings.INFRA!r}: set it to local or kubernetes.", code="infra.unknown"
    )


def _kubernetes() -> Infra:
    # Imported here: the Kubernetes client takes a second to load, and local mode does not need it.
    from workers.infra.kubernetes import connection
    from workers.infra.kubernetes.adapter import KubernetesInfra

    return KubernetesInfra(connection.api(), connection.cluster(Path(settings.CLUSTER_FILE)))
