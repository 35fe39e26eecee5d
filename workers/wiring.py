"""Build what tasks work with, from the settings: ports, readers of metering, a message worker.

Called by ``workers.tasks``, ``manage.py reconcile`` and ``controlplane.cli.sample``. The functions
connect to nothing.
"""

from pathlib import Path

from django.conf import settings
from django.utils import timezone

from workers.infra import adapters
from workers.message_requests import MessageWorker
from workers.messaging import certificates
from workers.messaging.brokers import driver
from workers.messaging.routers import driver as routers
from workers.messaging.routers.routing import Routing
from workers.metering import readers as metering
from workers.metering.last_samples import LastSampler
from workers.metering.readers import Readers
from workers.reconcile.ports import Ports


def readers() -> Readers:
    """Return the ``Readers`` through which sampling cycles read this installation's instances.

    Raises:
        Invalid, InfraError: what ``adapters.current`` raises.
    """
    return metering.product(adapters.current(), _identities_dir(), timezone.now)


def message_worker() -> MessageWorker:
    """Return the object that carries out operations on messages at this installation's brokers.

    Raises:
        Invalid, InfraError: what ``adapters.current`` raises.
    """
    return MessageWorker(adapters.current(), _identities_dir(), timezone.now)


def ports() -> Ports:
    """Return the ports of a reconcile pass, with the adapters that the settings choose.

    Raises:
        Invalid, InfraError: what ``adapters.current`` raises.
    """
    # The name decides how the local adapter starts routers, and whether they can form a mesh: the
    # development router cannot.
    engine = "qdrouterd" if settings.ROUTER_BINARY else "devrouter"
    return Ports(
        infra=adapters.current(),
        brokers=driver,
        routers=routers,
        routing=Routing(
            engine=engine,
            auth_host=settings.AUTH_SERVICE_HOST,
            auth_port=settings.AUTH_SERVICE_PORT,
            # A call, because only standard spaces need it, and the first call creates it.
            authority=lambda now: certificates.control_authority(settings.CONTROL_CA_DIR, now),
        ),
        metering=LastSampler(readers()),
        clock=timezone.now,
        identities_dir=_identities_dir(),
    )


def _identities_dir() -> Path:
    return Path(settings.STATE_DIR) / "run" / "identities"
