"""From rows to what one router should hold. Pure but for reading rows already loaded."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from plans import catalog
from tenants.models import Address, AddressType, MessagingUser, Placement
from tenants.router_patches import Patch
from workers.infra.base import InstanceSpec, Kind, Layout
from workers.messaging.brokers import desired as brokers
from workers.messaging.routers import config, entities
from workers.messaging.routers.desired import (
    AuthServiceAt,
    BrokerAt,
    DesiredRouter,
    MateAt,
    OnBroker,
    Place,
    RoutedAddress,
    Shape,
    router_name,
)
from workers.reconcile import presenting
from workers.reconcile.doors import Doors, Routing
from workers.reconcile.work import Work

# The auth service knows of a change within this time (services.auth.watcher); a connection that was
# opened before may have been let in by what is not true any more.
LOGINS_LAG = timedelta(seconds=1)


def list_names(work: Work) -> Sequence[str]:
    """Return the routers of the space; the first one leads (holds the link routes)."""
    if work.is_brokered:
        return []
    wanted = catalog.space_plan_definition(work.space.space_plan).routers
    return [router_name(ordinal) for ordinal in range(wanted if work.has_mesh else 1)]


def list_up(work: Work) -> Sequence[str]:
    """Return the routers that steps may talk to; the end of the pass waits for the others."""
    return [name for name in list_names(work) if name not in work.down]


def build(work: Work, doors: Doors, name: str, *, emptied: bool = False) -> DesiredRouter:
    """Return what ``name`` should hold; ``emptied`` of addresses and users before teardown."""
    plan = catalog.space_plan_definition(work.space.space_plan)
    return DesiredRouter(
        name=name,
        space_id=work.space.id,
        leads=_leads(work, name),
        mates=_mates(work, doors, name),
        brokers=[_broker(work, doors, broker.name) for broker in work.brokers],
        addresses=[] if emptied else list_addresses(work),
        server=work.key_pair(f"server/{name}"),
        client=work.key_pair("client/router"),
        authority_pem=work.secrets["authority"].public,
        auth=_auth_service(work, doors.routing),
        max_connections=plan.max_connections,
        allowed={} if emptied else allowed(work),
        presented=presenting.pair(work),
    )


def _leads(work: Work, name: str) -> bool:
    """Return whether this router holds the link routes of the space's topics.

    All of them may where they announce one container id; else exactly one, the first that is up:
    a broker would take a client that comes by another router for another subscriber.
    """
    if Patch.CONTAINER_ID in work.space.router_patches:
        return True
    names = list_names(work)
    return name == next((each for each in names if each not in work.down), names[0])


def spec(work: Work, router: DesiredRouter, layout: Layout, engine: str) -> InstanceSpec:
    """Return the instance that runs ``router``, its files rendered."""
    place = Place(
        layout.config_dir,
        layout.bind_host,
        layout.ports["amqps"],
        layout.ports["management"],
        layout.ports["mesh"] if work.has_mesh else None,
    )
    return InstanceSpec(
        namespace=work.namespace,
        kind=Kind.ROUTER,
        name=router.name,
        files=config.files(router, place),
        image=work.release.router_image if work.release else "",
        live_files=config.LIVE_FILES,
        secret_files=config.SECRET_FILES,
        engine=engine,
    )


def list_addresses(work: Work) -> Sequence[RoutedAddress]:
    """Return the addresses that routers carry, oldest first: of two alike the older one stays.

    Without those that no broker can carry, which the files must not name either: they are rendered
    before a step tells of the problem.
    """
    rows = sorted(work.wanted_addresses, key=lambda each: (each.created_at, each.id))
    return [
        routed(work, each)
        for each in rows
        if each.id not in work.problems and brokers.is_possible(each.address)
    ]


def list_leaving(work: Work) -> Sequence[RoutedAddress]:
    """Return the addresses on their way out, without those whose name is wanted again."""
    wanted = {each.address for each in work.wanted_addresses}
    return [routed(work, each) for each in work.leaving_addresses if each.address not in wanted]


def routed(work: Work, row: Address) -> RoutedAddress:
    """Return one address as routers know it."""
    ordinals = {broker.id: broker.ordinal for broker in work.brokers}
    placed = [each for each in row.placements.all() if each.broker_id in ordinals]
    return RoutedAddress(
        row.address if row.topic is None else f"{row.topic.address}::{row.address}",
        Shape(AddressType(row.type).value),
        tuple(
            OnBroker(
                f"broker-{ordinals[str(each.broker_id)]}",
                draining=each.state == Placement.State.DRAINING,
            )
            for each in sorted(placed, key=lambda each: ordinals[str(each.broker_id)])
        ),
    )


def find_clashes(work: Work) -> Mapping[str, str]:
    """Return the addresses that routers cannot tell from an older one."""
    return entities.find_clashes(list_addresses(work))


def allowed(work: Work) -> Mapping[str, datetime]:
    """Return from when on a user's connections may have been opened."""
    floor = _space_changed_at(work) or work.space.created_at
    return {
        user.name: max(floor, _user_changed_at(user) or user.created_at)
        for user in work.wanted_users
    }


def settles_at(work: Work) -> datetime:
    """Return when the auth service surely knows every change that this pass brings about."""
    changes = [_space_changed_at(work), *map(_user_changed_at, work.users)]
    return max([each for each in changes if each is not None], default=work.now)


def _space_changed_at(work: Work) -> datetime | None:
    is_changed = work.has_other_logins and work.space.observed_generation > 0
    return work.space.updated_at + LOGINS_LAG if is_changed else None


def _user_changed_at(user: MessagingUser) -> datetime | None:
    """Return when logins know the change of a user that could log in before, None without one."""
    is_changed = user.generation > user.observed_generation > 0
    return user.updated_at + LOGINS_LAG if is_changed else None


def _mates(work: Work, doors: Doors, name: str) -> Sequence[MateAt]:
    """Return the routers before this one: so each pair is joined once, and a new one joins all."""
    names = list_names(work)
    before = names[: names.index(name)] if name in names else []
    places = {each: doors.infra.place(work.namespace, Kind.ROUTER, each) for each in before}
    return [MateAt(each, at.host, at.ports["mesh"]) for each, at in places.items()]


def _broker(work: Work, doors: Doors, name: str) -> BrokerAt:
    layout = doors.infra.place(work.namespace, Kind.BROKER, name)
    return BrokerAt(name, layout.host, layout.ports["management"])


def _auth_service(work: Work, routing: Routing) -> AuthServiceAt:
    return AuthServiceAt(
        routing.auth_host,
        routing.auth_port,
        routing.authority(work.now).certificate_pem,
        work.key_pair("client/auth"),
    )
