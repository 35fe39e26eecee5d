"""Find the public endpoint of a space: where it is now, or else where it was last."""

from tenants.models import Endpoint
from workers.infra.base import EndpointPending, PublicEndpoint, Session
from workers.reconcile.space_rows import SpaceRows

NAME = "amqps"  # the name of the endpoint row of the first public instance


def endpoint(rows: SpaceRows, session: Session, instance: str) -> PublicEndpoint:
    """Create or update the public endpoint of ``instance``; return where clients reach it.

    If the platform has no address for the endpoint any more, for instance because somebody deleted
    the service, return the stored address of the space with ``trouble``. So the rest of a pass does
    not wait until the platform assigns an address again. Idempotent.

    Raises:
        InfraError: the platform refuses the request or does not answer.
        EndpointPending: the platform has assigned no address yet, and none is stored.
    """
    known = Endpoint.objects.filter(space=rows.space, name=NAME).first()
    try:
        return session.ensure_endpoint(instance, known.port if known else None)
    except EndpointPending as pending:
        if known is None:
            raise
        return PublicEndpoint(known.host, known.port, pending.extra_names, trouble=str(pending))
