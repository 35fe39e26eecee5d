"""Build the desired state of one router from the rows of a pass. Writes no rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from controlplane.core.instance_names import InstanceId, Kind, Listener
from plans.catalog import publishing
from tenants.models import Address, MessagingUser, Placement
from tenants.router_patches import Patch
from workers.infra.base import InstanceSpec, Layout
from workers.instances import SecretName
from workers.messaging.brokers import desired as brokers
from workers.messaging.routers import config, entities
from workers.messaging.routers.desired import (
    AuthServiceAt,
    BrokerAt,
    DesiredRouter,
    EngineLayout,
    OnBroker,
    PeerAt,
    RoutedAddress,
    RouterAddressKind,
)
from workers.reconcile import public_certificate
from workers.reconcile.context import ReconcileContext
from workers.reconcile.ports import Ports, Routing

# The auth service learns of a change within this time (services.auth.watcher). Until then it may
# accept a connection that the change does not permit.
LOGINS_LAG = timedelta(seconds=1)


def list_names(context: ReconcileContext) -> Sequence[str]:
    """Return the names of the space's routers, by ordinal."""
    if context.is_brokered:
        return []
    wanted = publishing.space_plan_definition(context.space.space_plan).routers
    return [
        InstanceId(Kind.ROUTER, ordinal).name
        for ordinal in range(wanted if context.has_mesh else 1)
    ]


def list_up(context: ReconcileContext) -> Sequence[str]:
    """Return the routers that steps may use; the step "instances" waits for the others."""
    return [name for name in list_names(context) if name not in context.down]


def build(
    context: ReconcileContext, ports: Ports, name: str, *, emptied: bool = False
) -> DesiredRouter:
    """Return the desired state of router ``name``; ``emptied``: without addresses and users."""
    plan = publishing.space_plan_definition(context.space.space_plan)
    return DesiredRouter(
        name=name,
        space_id=context.space.id,
        leads=_leads(context, name),
        peers=_peers(context, ports, name),
        brokers=[_broker(context, ports, broker.name) for broker in context.brokers],
        addresses=[] if emptied else list_addresses(context),
        server=context.key_pair(SecretName.server(name)),
        client=context.key_pair(SecretName.ROUTER_CLIENT),
        authority_pem=context.secrets[SecretName.AUTHORITY].public,
        auth=_auth_service(context, ports.routing),
        # Each router allows this many, because it counts only its own connections.
        max_connections=plan.max_connections,
        allowed={} if emptied else allowed(context),
        public_certificate=public_certificate.pair(context),
    )


def _leads(context: ReconcileContext, name: str) -> bool:
    """Return whether this router holds the link routes of the space's topics.

    With the patch ``container-id`` all routers do, because they announce the same container id.
    Otherwise only the first router that is up does: brokers key a durable subscription by the
    container id, and would take a client at another router for another subscriber.
    """
    if Patch.CONTAINER_ID in context.space.router_patches:
        return True
    names = list_names(context)
    return name == next((router for router in names if router not in context.down), names[0])


def spec(
    context: ReconcileContext, router: DesiredRouter, layout: Layout, engine: str
) -> InstanceSpec:
    """Return the instance specification of ``router``, with its rendered files."""
    engine_layout = EngineLayout(
        layout.config_dir,
        layout.bind_host,
        layout.ports[Listener.AMQPS],
        layout.ports[Listener.MANAGEMENT],
        layout.ports[Listener.MESH] if context.has_mesh else None,
    )
    return InstanceSpec(
        namespace=context.namespace,
        kind=Kind.ROUTER,
        name=router.name,
        files=config.files(router, engine_layout),
        image=context.release.router_image if context.release else "",
        live_files=config.LIVE_FILES,
        secret_files=config.SECRET_FILES,
        engine=engine,
    )


def list_addresses(context: ReconcileContext) -> Sequence[RoutedAddress]:
    """Return the addresses of the routers, oldest first: if two names clash, the older one stays.

    Addresses that brokers cannot hold are left out. They are checked here too, because the files of
    the routers are rendered before the step that reports such an address.
    """
    wanted = [*context.wanted_addresses, *context.nearby]
    rows = sorted(wanted, key=lambda row: (row.created_at, row.id))
    return [
        routed(context, row)
        for row in rows
        if row.id not in context.problems and brokers.is_possible(row.address)
    ]


def list_leaving(context: ReconcileContext) -> Sequence[RoutedAddress]:
    """Return the addresses that are being deleted, except those whose name is wanted again."""
    wanted = {row.address for row in context.wanted_addresses}
    return [routed(context, row) for row in context.leaving_addresses if row.address not in wanted]


def routed(context: ReconcileContext, row: Address) -> RoutedAddress:
    """Return one address as routers name it, with the brokers that hold it."""
    ordinals = {broker.id: broker.ordinal for broker in context.brokers}
    # A placement may be on a broker that was created after this pass read the brokers.
    placed = [placement for placement in row.placements.all() if placement.broker_id in ordinals]
    return RoutedAddress(
        row.address if row.topic is None else f"{row.topic.address}::{row.address}",
        RouterAddressKind.of_type(row.type),
        tuple(
            OnBroker(
                InstanceId(Kind.BROKER, ordinals[str(placement.broker_id)]).name,
                draining=placement.state == Placement.State.DRAINING,
            )
            for placement in sorted(
                placed, key=lambda placement: ordinals[str(placement.broker_id)]
            )
        ),
        has_below=row.id in context.topics_with_below,
    )


def find_clashes(context: ReconcileContext) -> Mapping[str, str]:
    """Return the addresses that routers take for an older one: name -> older name."""
    return entities.find_clashes(list_addresses(context))


def allowed(context: ReconcileContext) -> Mapping[str, datetime]:
    """Return for each user the earliest time at which a permitted connection was opened."""
    floor = _space_changed_at(context) or context.space.created_at
    # Connections from before the last change may rest on permissions that are withdrawn.
    return {
        user.name: max(floor, _user_changed_at(user) or user.created_at)
        for user in context.wanted_users
    }


def settles_at(context: ReconcileContext) -> datetime:
    """Return the time by which the auth service knows every change of logins in this pass."""
    changes = [_space_changed_at(context), *map(_user_changed_at, context.users)]
    return max([moment for moment in changes if moment is not None], default=context.now)


def _space_changed_at(context: ReconcileContext) -> datetime | None:
    # A space that was never ready had no logins, so there is nothing to wait for.
    is_changed = context.has_other_logins and context.space.observed_generation > 0
    return context.space.updated_at + LOGINS_LAG if is_changed else None


def _user_changed_at(user: MessagingUser) -> datetime | None:
    """Return when the auth service knows a user's change; None for a new or unchanged user."""
    is_changed = user.generation > user.observed_generation > 0
    return user.updated_at + LOGINS_LAG if is_changed else None


def _peers(context: ReconcileContext, ports: Ports, name: str) -> Sequence[PeerAt]:
    """Return the routers with lower ordinals, to which this one opens its mesh connections.

    So each pair is connected once, and a new router needs no change at the others.
    """
    names = list_names(context)
    before = names[: names.index(name)] if name in names else []
    layouts = {peer: ports.session.layout_of(Kind.ROUTER, peer) for peer in before}
    return [
        PeerAt(peer, layout.host, layout.ports[Listener.MESH]) for peer, layout in layouts.items()
    ]


def _broker(context: ReconcileContext, ports: Ports, name: str) -> BrokerAt:
    layout = ports.session.layout_of(Kind.BROKER, name)
    return BrokerAt(name, layout.host, layout.ports[Listener.MANAGEMENT])


def _auth_service(context: ReconcileContext, routing: Routing) -> AuthServiceAt:
    return AuthServiceAt(
        routing.auth_host,
        routing.auth_port,
        routing.authority(context.now).certificate_pem,
        context.key_pair(SecretName.AUTH_CLIENT),
    )
