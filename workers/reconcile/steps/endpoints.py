"""The endpoint rows of the space: where clients connect, and which authority they must trust."""

from collections.abc import Mapping

from controlplane.core.reasons import Reason
from tenants.models import Endpoint
from workers.infra.base import PublicEndpoint
from workers.reconcile import desired_routers, public, public_certificate
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    instance = context.public_instance
    if instance is None:
        return Wait(2, Reason.NOTHING_TO_CONNECT_TO)
    # Before the endpoint is shown, so that no client trusts an authority that is about to change.
    awaited = public_certificate.settle(context)
    if awaited is not None:
        return awaited
    found = public.endpoint(context, ports, instance)
    context.endpoint_trouble = found.trouble
    wanted = {public.NAME: found, **_of_other_routers(context, ports, found)}
    existing = {row.name: row for row in Endpoint.objects.filter(space=context.space)}
    for name, endpoint in wanted.items():
        _write(context, name, endpoint, existing.get(name))
    for name in existing.keys() - wanted.keys():
        existing[name].delete()
    return Done()


def _of_other_routers(
    context: ReconcileContext, ports: Ports, first: PublicEndpoint
) -> Mapping[str, PublicEndpoint]:
    """Return the endpoints of the routers after the first, by name.

    Empty if one endpoint leads to all routers, as a cluster's service does. If each router has its
    own, a client that knows all of them can use another router while one is down.
    """
    found: dict[str, PublicEndpoint] = {}
    for number, router in enumerate(desired_routers.list_names(context)[1:], start=1):
        endpoint = ports.session.ensure_endpoint(router)
        if (endpoint.host, endpoint.port) == (first.host, first.port):
            return {}  # one endpoint for all routers
        found[f"{public.NAME}-{number}"] = endpoint
    return found


def _write(
    context: ReconcileContext, name: str, endpoint: PublicEndpoint, existing: Endpoint | None
) -> None:
    wanted = {
        "protocol": "amqps",
        "host": endpoint.host,
        "port": endpoint.port,
        "certificate_pem": public_certificate.trusted(context),
    }
    if existing is None or any(getattr(existing, key) != value for key, value in wanted.items()):
        Endpoint.objects.update_or_create(space=context.space, name=name, defaults=wanted)


def remove(context: ReconcileContext, ports: Ports) -> Outcome:
    ports.session.delete_endpoint()
    Endpoint.objects.filter(space=context.space).delete()
    return Done()
