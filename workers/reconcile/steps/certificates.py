"""The space's authority, the server certificate of each instance, and what clients are shown.

All of them are renewed before they expire.
"""

from workers.infra.base import Kind
from workers.messaging import certificates
from workers.reconcile import desired_routers, presenting, public, sealing
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    if "authority" not in work.secrets:
        authority = certificates.create_authority(f"space {work.space.id}", work.now)
        sealing.keep(work, "authority", authority)
    for broker in work.brokers:
        _ensure_server(work, doors, Kind.BROKER, broker.name, is_public=work.is_brokered)
    for router in desired_routers.list_names(work):
        _ensure_server(work, doors, Kind.ROUTER, router, is_public=True)
    presenting.ensure(work, doors)
    return Done()


def _ensure_server(work: Work, doors: Doors, kind: Kind, instance: str, *, is_public: bool) -> None:
    layout = doors.infra.place(work.namespace, kind, instance)
    hosts = [layout.host]
    if is_public:
        endpoint = public.endpoint(work, doors, instance)
        hosts = [endpoint.host, *endpoint.extra_names, layout.host]
    sealing.ensure_server(work, f"server/{instance}", list(dict.fromkeys(hosts)))
