"""Issue the client certificates of a space.

With them Waypost logs in at the instances, and routers log in at brokers and at the auth service.
"""

from workers.instances import SecretName
from workers.messaging.brokers import desired
from workers.messaging.routers.routing import Routing
from workers.reconcile.findings import Certificates
from workers.reconcile.outcome import Done, StepResult
from workers.reconcile.space_keys import KeyStore, SpaceKeys
from workers.reconcile.space_rows import SpaceRows


def ensure(rows: SpaceRows, routing: Routing, certificates: Certificates) -> StepResult[SpaceKeys]:
    """Issue the client certificates that are missing or due; return all keys of the space.

    ``certificates`` has the space's authority, which signs them. The one for the auth service is
    signed by the control authority.
    """
    store = KeyStore(rows, certificates.stored)
    store.ensure_client(SecretName.CONTROL_CLIENT, desired.CONTROL_NAME)
    if not rows.is_brokered:
        store.ensure_client(SecretName.ROUTER_CLIENT, desired.ROUTER_NAME)
        # Signed by the control authority: the auth service learns from it which space this is.
        store.ensure_client(SecretName.AUTH_CLIENT, rows.space.id, routing.authority(rows.now))
    return StepResult(Done(), store.keys)
