"""Management targets of a space's brokers and routers, with the client certificate for them."""

from collections.abc import Callable

from workers.infra.base import Kind
from workers.messaging import identities
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.reconcile.context import ReconcileContext
from workers.reconcile.ports import Ports


def broker(context: ReconcileContext, ports: Ports, name: str) -> ManagementTarget:
    """Return the address of the broker's internal listener, and the certificates for it."""
    return _instance(context, ports, Kind.BROKER, name)


def router(context: ReconcileContext, ports: Ports, name: str) -> ManagementTarget:
    """Return the address of the router's internal listener, and the certificates for it."""
    return _instance(context, ports, Kind.ROUTER, name)


def answers(find_incarnation: Callable[[], str]) -> bool:
    """Return whether an instance answers a request for its incarnation."""
    try:
        find_incarnation()
    except Unreachable:
        return False
    return True


def _instance(context: ReconcileContext, ports: Ports, kind: Kind, name: str) -> ManagementTarget:
    layout = ports.session.layout_of(kind, name)
    return identities.target(
        layout.host,
        layout.ports["management"],
        authority_pem=context.secrets["authority"].public,
        client=context.key_pair("client/control"),
        folder=ports.identities_dir,
    )
