"""How a pass reaches what runs: management targets made from the space's own identity."""

from collections.abc import Callable

from workers.infra.base import Kind
from workers.messaging import identities
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.reconcile.doors import Doors
from workers.reconcile.work import Work


def broker(work: Work, doors: Doors, name: str) -> ManagementTarget:
    """Return where the broker's internal listener is and with which certificate to come."""
    return _instance(work, doors, Kind.BROKER, name)


def router(work: Work, doors: Doors, name: str) -> ManagementTarget:
    """Return where the router's internal listener is and with which certificate to come."""
    return _instance(work, doors, Kind.ROUTER, name)


def answers(find_life: Callable[[], str]) -> bool:
    """Return whether an instance answers when it is asked for its life."""
    try:
        find_life()
    except Unreachable:
        return False
    return True


def _instance(work: Work, doors: Doors, kind: Kind, name: str) -> ManagementTarget:
    layout = doors.infra.place(work.namespace, kind, name)
    return identities.target(
        layout.host,
        layout.ports["management"],
        authority_pem=work.secrets["authority"].public,
        client=work.key_pair("client/control"),
        folder=doors.identities_dir,
    )
