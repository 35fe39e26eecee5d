"""Issue the space's authority and the server certificates, and store the public certificate.

Server certificates are renewed before they expire. The authority is created once, for ten years.
"""

from controlplane.core.instance_names import Kind
from workers.infra.base import Session
from workers.instances import SecretName
from workers.reconcile import public, public_certificate
from workers.reconcile.findings import Certificates, OpenNamespace
from workers.reconcile.outcome import Done, StepResult
from workers.reconcile.space_keys import KeyStore
from workers.reconcile.space_rows import SpaceRows


def ensure(
    rows: SpaceRows, session: Session, _namespace: OpenNamespace
) -> StepResult[Certificates]:
    """Issue what is missing or due, and store the certificate that the installation provides.

    The certificates of public instances name the public endpoint. So the step also creates the
    endpoint, which needs the namespace.
    """
    store = KeyStore(rows, rows.secrets)
    store.ensure_authority()
    instances = [(Kind.BROKER, broker.name, rows.is_brokered) for broker in rows.brokers]
    # Clients of a standard space connect to its routers, so those carry the public host names.
    instances += [(Kind.ROUTER, router, True) for router in rows.router_names]
    for kind, instance, is_public in instances:
        hosts = [session.layout_of(kind, instance).host]
        if is_public:
            endpoint = public.endpoint(rows, session, instance)
            hosts = [endpoint.host, *endpoint.extra_names, *hosts]
        # Without duplicates, in this order: the first host becomes the subject.
        store.ensure_server(SecretName.server(instance), list(dict.fromkeys(hosts)))
    state = public_certificate.ensure(rows, session, store)
    return StepResult(Done(), Certificates(store.keys.rows, state))
