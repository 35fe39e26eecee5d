"""Client certificates: ours for management, the routers' towards brokers and the auth service."""

from workers.messaging.brokers import desired
from workers.reconcile import sealing
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    sealing.ensure_client(work, "client/control", desired.CONTROL_NAME)
    if not work.is_brokered:
        sealing.ensure_client(work, "client/router", desired.ROUTER_NAME)
        sealing.ensure_vouched(work, "client/auth", doors.routing.authority(work.now))
    return Done()
