"""The endpoint that the clients of a space connect to: the present one, or the last known one."""

from tenants.models import Endpoint
from workers.infra.base import EndpointPending, PublicEndpoint, Session
from workers.reconcile.space_rows import SpaceRows

NAME = "amqps"


def endpoint(rows: SpaceRows, session: Session, instance: str) -> PublicEndpoint:
    """Return where clients reach the space through ``instance``. Idempotent.

    If a known endpoint is gone, for instance because its service was deleted by hand, the last
    known address is returned with ``trouble``. So the rest of a pass does not wait until the
    platform assigns an address again.

    Raises:
        InfraError: the platform refuses the request or does not answer.
        EndpointPending: the endpoint never had an address.
    """
    try:
        return session.ensure_endpoint(instance)
    except EndpointPending as pending:
        known = Endpoint.objects.filter(space=rows.space, name=NAME).first()
        if known is None:
            raise
        return PublicEndpoint(known.host, known.port, pending.extra_names, trouble=str(pending))
