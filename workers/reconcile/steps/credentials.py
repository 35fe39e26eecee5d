"""Client certificates: for our management, and for routers at brokers and the auth service."""

from workers.instances import SecretName
from workers.messaging.brokers import desired
from workers.reconcile import space_certificates
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    space_certificates.ensure_client(context, SecretName.CONTROL_CLIENT, desired.CONTROL_NAME)
    if not context.is_brokered:
        space_certificates.ensure_client(context, SecretName.ROUTER_CLIENT, desired.ROUTER_NAME)
        # Signed by the control authority: the auth service learns from it which space this is.
        space_certificates.ensure_vouched(
            context, SecretName.AUTH_CLIENT, ports.routing.authority(context.now)
        )
    return Done()
