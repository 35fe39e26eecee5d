"""Store the endpoints of the space: where clients connect, and which authority they must trust."""

from collections.abc import Mapping

from controlplane.core.reasons import Reason
from tenants.models import Endpoint
from workers.infra.base import PublicEndpoint, Session
from workers.reconcile import public, public_certificate
from workers.reconcile.findings import Certificates, Instances, LastSample, ReachedEndpoint
from workers.reconcile.outcome import Done, Outcome, StepResult, Wait, attempt
from workers.reconcile.space_keys import KeyStore, SpaceKeys
from workers.reconcile.space_rows import SpaceRows


def ensure(
    rows: SpaceRows,
    session: Session,
    certificates: Certificates,
    keys: SpaceKeys,
    instances: Instances,
) -> StepResult[ReachedEndpoint]:
    """Store where clients connect; delete the rows of routers that the plan no longer has.

    The pass over a new space stops here until its listeners can present the provided certificate.
    """
    instance = rows.public_instance
    if instance is None:
        return StepResult(Wait(2, Reason.NOTHING_TO_CONNECT_TO), ReachedEndpoint())
    store = KeyStore(rows, keys.rows)
    # Before the endpoint is shown, so that no client trusts an authority that is about to change.
    awaited = public_certificate.settle(rows, store, certificates.public, instances)
    if awaited is not None:
        return StepResult(awaited, ReachedEndpoint())
    found = public.endpoint(rows, session, instance)

    def write() -> Outcome:
        wanted = {public.NAME: found, **_of_other_routers(rows, session, found)}
        existing = {row.name: row for row in Endpoint.objects.filter(space=rows.space)}
        for name, endpoint in wanted.items():
            columns = {
                "protocol": "amqps",
                "host": endpoint.host,
                "port": endpoint.port,
                "certificate_pem": store.keys.trusted_pem,
            }
            row = existing.get(name)
            if row is None or any(getattr(row, key) != value for key, value in columns.items()):
                Endpoint.objects.update_or_create(space=rows.space, name=name, defaults=columns)
        # A smaller plan has fewer routers, so clients must not try the endpoints of the others.
        for name in existing.keys() - wanted.keys():
            existing[name].delete()
        return Done()

    # The trouble of the first endpoint is known even if the platform refuses another one.
    return StepResult(attempt(write), ReachedEndpoint(found.trouble))


def remove(rows: SpaceRows, session: Session, _sampled: LastSample) -> StepResult[None]:
    """Delete the endpoint on the platform, and all endpoint rows of the space."""
    session.delete_endpoint()
    Endpoint.objects.filter(space=rows.space).delete()
    return StepResult(Done(), None)


def _of_other_routers(
    rows: SpaceRows, session: Session, first: PublicEndpoint
) -> Mapping[str, PublicEndpoint]:
    """Return the endpoints of the routers after the first, by the name of their row.

    Empty if one endpoint leads to all routers, as a cluster's service does. If each router has its
    own endpoint, a client that knows all of them can use another router while one is down.
    """
    found: dict[str, PublicEndpoint] = {}
    for number, router in enumerate(rows.router_names[1:], start=1):
        endpoint = session.ensure_endpoint(router)
        if (endpoint.host, endpoint.port) == (first.host, first.port):
            return {}  # one endpoint for all routers
        found[f"{public.NAME}-{number}"] = endpoint
    return found
