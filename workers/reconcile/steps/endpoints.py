"""Where clients connect, and whom they trust there: the observed endpoint rows of the space."""

from tenants.models import Endpoint
from workers.reconcile import presenting, public
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    instance = work.public_instance
    if instance is None:
        return Wait(2, "NothingToConnectTo")
    awaited = presenting.settle(work)
    if awaited is not None:
        return awaited
    found = public.endpoint(work, doors, instance)
    work.endpoint_trouble = found.trouble
    wanted = {
        "protocol": "amqps",
        "host": found.host,
        "port": found.port,
        "certificate_pem": presenting.trusted(work),
    }
    if not Endpoint.objects.filter(space=work.space, name=public.NAME, **wanted).exists():
        Endpoint.objects.update_or_create(space=work.space, name=public.NAME, defaults=wanted)
    return Done()


def remove(work: Work, doors: Doors) -> Outcome:
    doors.infra.delete_endpoint(work.namespace)
    Endpoint.objects.filter(space=work.space).delete()
    return Done()
