"""Where clients connect, and whom they trust there: the observed endpoint rows of the space."""

from collections.abc import Mapping

from tenants.models import Endpoint
from workers.infra.base import PublicEndpoint
from workers.reconcile import desired_routers, presenting, public
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
    wanted = {public.NAME: found, **_of_other_routers(work, doors, found)}
    held = {row.name: row for row in Endpoint.objects.filter(space=work.space)}
    for name, endpoint in wanted.items():
        _write(work, name, endpoint, held.get(name))
    for name in held.keys() - wanted.keys():
        held[name].delete()
    return Done()


def _of_other_routers(
    work: Work, doors: Doors, first: PublicEndpoint
) -> Mapping[str, PublicEndpoint]:
    """Return the endpoints of the routers after the first, by name.

    Empty where one endpoint leads to all routers, as a cluster's service does. Where each has its
    own, a client that knows them all finds another router when one is away.
    """
    found: dict[str, PublicEndpoint] = {}
    for number, router in enumerate(desired_routers.list_names(work)[1:], start=1):
        endpoint = doors.infra.ensure_endpoint(work.namespace, router)
        if (endpoint.host, endpoint.port) == (first.host, first.port):
            return {}
        found[f"{public.NAME}-{number}"] = endpoint
    return found


def _write(work: Work, name: str, endpoint: PublicEndpoint, held: Endpoint | None) -> None:
    wanted = {
        "protocol": "amqps",
        "host": endpoint.host,
        "port": endpoint.port,
        "certificate_pem": presenting.trusted(work),
    }
    if held is None or any(getattr(held, key) != value for key, value in wanted.items()):
        Endpoint.objects.update_or_create(space=work.space, name=name, defaults=wanted)


def remove(work: Work, doors: Doors) -> Outcome:
    doors.infra.delete_endpoint(work.namespace)
    Endpoint.objects.filter(space=work.space).delete()
    return Done()
