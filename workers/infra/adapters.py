"""Which adapter of the ``infra`` contract this installation uses."""

from pathlib import Path

from django.conf import settings

from controlplane.core.errors import Invalid
from controlplane.embedded.supervisor_client import SupervisorClient
from workers.infra.base import Infra
from workers.infra.local.adapter import LocalInfra


def current() -> Infra:
    """Return the adapter that ``settings.INFRA`` names; cheap, so call it where it is needed.

    Raises:
        Invalid: ``infra.unknown``, or the cluster's description is wrong.
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
    # Imported here: a cluster's client takes a second to load, and most installations have none.
    from workers.infra.kubernetes import connection
    from workers.infra.kubernetes.adapter import KubernetesInfra

    return KubernetesInfra(connection.api(), connection.cluster(Path(settings.CLUSTER_FILE)))
