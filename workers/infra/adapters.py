"""Which adapter of the ``infra`` contract this installation uses."""

from pathlib import Path

from django.conf import settings

from controlplane.embedded.supervisor_client import SupervisorClient
from workers.infra.base import Infra
from workers.infra.local.adapter import LocalInfra


def current() -> Infra:
    """Return the adapter that ``settings.INFRA`` names; cheap, so call it where it is needed."""
    socket = Path(settings.SUPERVISOR_SOCKET)
    return LocalInfra(settings.STATE_DIR, SupervisorClient(socket, socket.parent / "conf.d"))
