"""The space's authority, the server certificates of its instances, and the public certificate.

Certificates are renewed before they expire. The authority is created once, for ten years.
"""

from controlplane.core.instance_names import Kind
from workers.instances import SecretName
from workers.messaging import certificates
from workers.reconcile import desired_routers, public, public_certificate, space_certificates
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    if SecretName.AUTHORITY not in context.secrets:
        authority = certificates.create_authority(f"space {context.space.id}", context.now)
        space_certificates.keep(context, SecretName.AUTHORITY, authority)
    for broker in context.brokers:
        _ensure_server(context, ports, Kind.BROKER, broker.name, is_public=context.is_brokered)
    for router in desired_routers.list_names(context):
        _ensure_server(context, ports, Kind.ROUTER, router, is_public=True)
    public_certificate.ensure(context, ports)
    return Done()


def _ensure_server(
    context: ReconcileContext, ports: Ports, kind: Kind, instance: str, *, is_public: bool
) -> None:
    layout = ports.session.layout_of(kind, instance)
    hosts = [layout.host]
    if is_public:
        endpoint = public.endpoint(context, ports, instance)
        hosts = [endpoint.host, *endpoint.extra_names, layout.host]
    # Without duplicates, in this order: the first host becomes the subject.
    space_certificates.ensure_server(
        context, SecretName.server(instance), list(dict.fromkeys(hosts))
    )
