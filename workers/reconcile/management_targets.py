"""Management targets of a space's brokers and routers, with the client certificate for them."""

from collections.abc import Callable

from controlplane.core.instance_names import InstanceId
from workers.instances import Credentials, Locator
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.reconcile.context import ReconcileContext
from workers.reconcile.ports import Ports


def broker(context: ReconcileContext, ports: Ports, name: str) -> ManagementTarget:
    """Return the address of the broker's internal listener, and the certificates for it."""
    return _locate(context, ports, name)


def router(context: ReconcileContext, ports: Ports, name: str) -> ManagementTarget:
    """Return the address of the router's internal listener, and the certificates for it."""
    return _locate(context, ports, name)


def answers(find_incarnation: Callable[[], str]) -> bool:
    """Return whether an instance answers a request for its incarnation."""
    try:
        find_incarnation()
    except Unreachable:
        return False
    return True


def _locate(context: ReconcileContext, ports: Ports, name: str) -> ManagementTarget:
    locator = Locator(ports.infra, ports.identities_dir)
    credentials = Credentials.of(context.secrets)
    return locator.locate(ports.session, InstanceId.parse(name), credentials)
