"""Where clients connect: the observed endpoint rows of the space."""

from tenants.models import Endpoint
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work

NAME = "amqps"


def ensure(work: Work, doors: Doors) -> Outcome:
    instance = _public_instance(work)
    if instance is None:
        return Wait(2, "NothingToConnectTo")
    found = doors.infra.ensure_endpoint(work.namespace, instance)
    wanted = {
        "protocol": "amqps",
        "host": found.host,
        "port": found.port,
        "certificate_pem": work.secrets["authority"].public,
    }
    if not Endpoint.objects.filter(space=work.space, name=NAME, **wanted).exists():
        Endpoint.objects.update_or_create(space=work.space, name=NAME, defaults=wanted)
    return Done()


def remove(work: Work, doors: Doors) -> Outcome:
    Endpoint.objects.filter(space=work.space).delete()
    return Done()


def _public_instance(work: Work) -> str | None:
    if not work.is_brokered:
        return "router-0"
    return work.brokers[0].name if work.brokers else None
