"""Where the clients of a space connect, as the place says, or as it said before."""

from tenants.models import Endpoint
from workers.infra.base import EndpointPending, PublicEndpoint
from workers.reconcile.doors import Doors
from workers.reconcile.work import Work

NAME = "amqps"


def endpoint(work: Work, doors: Doors, instance: str) -> PublicEndpoint:
    """Return where clients reach the space by ``instance``. Idempotent.

    One that is known and has gone, its service deleted by hand say, is where it was: whatever else
    a pass does must not wait until the place gives it an address again.

    Raises:
        InfraError: the place refuses or is away; ``EndpointPending``: it never had an address.
    """
    try:
        return doors.infra.ensure_endpoint(work.namespace, instance)
    except EndpointPending as pending:
        known = Endpoint.objects.filter(space=work.space, name=NAME).first()
        if known is None:
            raise
        return PublicEndpoint(known.host, known.port, pending.extra_names, trouble=str(pending))
