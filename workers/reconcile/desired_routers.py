"""Build the desired state of a space's routers from the rows of a pass.

It asks the platform for hosts and ports, and changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from controlplane.core.instance_names import InstanceId, Kind, Listener
from plans.catalog import publishing
from tenants.models import Address, MessagingUser, Placement
from tenants.router_patches import Patch
from workers.infra.base import InstanceSpec, Session
from workers.instances import SecretName
from workers.messaging.brokers import desired as brokers
from workers.messaging.routers import config, entities
from workers.messaging.routers.desired import (
    AuthServiceAt,
    BrokerAt,
    ClientLimits,
    DesiredRouter,
    EngineLayout,
    OnBroker,
    PeerAt,
    RoutedAddress,
    RouterAddressKind,
)
from workers.messaging.routers.routing import Routing
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows

# The auth service usually reads a change within this time (``services.auth.watcher``). Until then
# it may accept a login that the change does not permit.
LOGINS_LAG = timedelta(seconds=1)
# A router counts how long a connection is open in ticks of one second, so the connection may seem
# to be opened this much later than it was.
_UPTIME_TICK = timedelta(seconds=1)


@dataclass(frozen=True)
class DesiredRouters:
    """Builds the desired state of the routers of one space, on demand for each router.

    * ``down``: names of the instances that earlier steps found down.
    * ``refused``: ids of the addresses that earlier steps found impossible for brokers or routers.
    """

    rows: SpaceRows
    keys: SpaceKeys
    session: Session
    routing: Routing
    down: Collection[str] = ()
    refused: Collection[str] = ()

    def list_up(self) -> Sequence[str]:
        """Return the names of the routers that are not down, by ordinal.

        Steps use only these. The step "instances" waits for the others.
        """
        return [name for name in self.rows.router_names if name not in self.down]

    def build(self, name: str, *, emptied: bool = False) -> DesiredRouter:
        """Return the desired state of router ``name``, with the addresses of ``list_addresses``.

        ``emptied``: without addresses, and no user may be connected.

        Raises:
            InfraError: the platform does not answer for the layout of another instance.
            KeyError: a certificate of the router was not issued yet.
        """
        rows = self.rows
        plan = publishing.space_plan_definition(rows.space.space_plan)
        # A router reads its limits at its start, so it restarts when this changes. It stores no
        # messages.
        plan = plan.throttled(rows.space.throttle_percent)
        return DesiredRouter(
            name=name,
            space_id=rows.space.id,
            leads=self._leads(name),
            peers=self._list_peers(name),
            brokers=[self._locate_broker(broker.name) for broker in rows.brokers],
            addresses=[] if emptied else self.list_addresses(),
            server=self.keys.pair(SecretName.server(name)),
            client=self.keys.pair(SecretName.ROUTER_CLIENT),
            authority_pem=self.keys.authority_pem,
            auth=AuthServiceAt(
                self.routing.auth_host,
                self.routing.auth_port,
                self.routing.authority(rows.now).certificate_pem,
                self.keys.pair(SecretName.AUTH_CLIENT),
            ),
            # Each router allows this many, because it counts only its own connections.
            max_connections=plan.max_connections,
            limits=ClientLimits(
                plan.max_user_connections,
                plan.max_source_connections,
                plan.max_connection_sessions,
                plan.max_connection_senders,
                plan.max_connection_receivers,
                plan.max_message_kb * 1024 if plan.max_message_kb is not None else None,
            ),
            allowed={} if emptied else allowed(rows),
            public_certificate=self.keys.public_pair,
        )

    def spec(self, name: str, *, emptied: bool = False) -> InstanceSpec:
        """Return the instance specification of router ``name``, with its rendered files.

        ``emptied`` is as in ``build``.

        Raises:
            InfraError: the platform does not answer for a layout.
            KeyError: a certificate of the router was not issued yet.
        """
        layout = self.session.layout_of(Kind.ROUTER, name)
        router = self.build(name, emptied=emptied)
        engine_layout = EngineLayout(
            layout.config_dir,
            layout.bind_host,
            layout.ports[Listener.AMQPS],
            layout.ports[Listener.MANAGEMENT],
            layout.ports[Listener.MESH] if self.rows.has_mesh else None,
            layout.ports.get(Listener.HEALTH),
        )
        return InstanceSpec(
            namespace=self.rows.namespace,
            kind=Kind.ROUTER,
            name=name,
            files=config.files(router, engine_layout),
            placement=publishing.space_plan_definition(self.rows.space.space_plan).placement,
            image=self.rows.release.router_image if self.rows.release else "",
            live_files=config.LIVE_FILES,
            secret_files=config.SECRET_FILES,
            engine=self.routing.engine,
        )

    def list_addresses(self) -> Sequence[RoutedAddress]:
        """Return the wanted addresses of the space as routers name them, oldest first.

        The order matters: of two names that clash, ``entities`` keeps the first. In a partial pass
        these are only the changed addresses and the topics in ``rows.nearby``.

        Refused addresses, and names that brokers cannot hold, are left out. The names are checked
        here too, because the files of the routers are rendered before the step that reports such an
        address.
        """
        wanted = [*self.rows.wanted_addresses, *self.rows.nearby]
        return [
            routed(self.rows, row)
            for row in sorted(wanted, key=lambda row: (row.created_at, row.id))
            if row.id not in self.refused and brokers.is_possible(row.address)
        ]

    def find_clashes(self) -> Mapping[str, str]:
        """Return {name: older name} for the names that routers cannot tell from an older one."""
        return entities.find_clashes(self.list_addresses())

    def _leads(self, name: str) -> bool:
        """Return whether router ``name`` holds the link routes of the space's topics.

        With the patch ``container-id`` every router does, because they announce the same container
        id. Otherwise only the first router that is up does: brokers key a durable subscription by
        the container id, and would take a client at another router for another subscriber.
        """
        if Patch.CONTAINER_ID in self.rows.space.router_patches:
            return True
        return name == next(iter(self.list_up()), self.rows.router_names[0])

    def _list_peers(self, name: str) -> Sequence[PeerAt]:
        """Return the routers with lower ordinals: router ``name`` opens mesh connections to them.

        So each pair is connected once, and a new router needs no change at the others.
        """
        names = self.rows.router_names
        before = names[: names.index(name)] if name in names else []
        layouts = {peer: self.session.layout_of(Kind.ROUTER, peer) for peer in before}
        return [
            PeerAt(peer, layout.host, layout.ports[Listener.MESH])
            for peer, layout in layouts.items()
        ]

    def _locate_broker(self, name: str) -> BrokerAt:
        layout = self.session.layout_of(Kind.BROKER, name)
        return BrokerAt(name, layout.host, layout.ports[Listener.MANAGEMENT])


def list_leaving(rows: SpaceRows) -> Sequence[RoutedAddress]:
    """Return the addresses that are being deleted, as routers name them.

    An address whose name is wanted again is left out.
    """
    wanted = {row.address for row in rows.wanted_addresses}
    return [routed(rows, row) for row in rows.leaving_addresses if row.address not in wanted]


def routed(rows: SpaceRows, row: Address) -> RoutedAddress:
    """Return one address as routers name it, with the brokers that hold it, by ordinal.

    A subscription is named ``<topic>::<name>``, any other address by its own name.
    """
    ordinals = {broker.id: broker.ordinal for broker in rows.brokers}
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
        has_below=row.id in rows.topics_with_below,
    )


def allowed(rows: SpaceRows) -> Mapping[str, datetime]:
    """Return {user: time}: a connection of the user that was opened earlier is not permitted.

    Users that are not in the result may have no connection at all.
    """
    of_all = _space_changed_at(rows)
    found = {}
    # A router keeps the permissions of a connection from its login, so older ones must be closed.
    for user in rows.wanted_users:
        changes = [moment for moment in (of_all, _user_changed_at(user)) if moment is not None]
        created = max(rows.space.created_at, user.created_at)
        found[user.name] = max(changes) + _UPTIME_TICK if changes else created
    return found


def settles_at(rows: SpaceRows) -> datetime:
    """Return when the auth service knows all changes of users and logins at the latest.

    Without such a change this is the time when the pass began.
    """
    changes = [_space_changed_at(rows), *map(_user_changed_at, rows.users)]
    return max([moment for moment in changes if moment is not None], default=rows.now)


def _space_changed_at(rows: SpaceRows) -> datetime | None:
    """Return when the auth service knows a change of all logins at the latest; None without one."""
    # A space that was never ready had no logins, so there is nothing to wait for.
    is_changed = rows.has_other_logins and rows.space.observed_generation > 0
    return rows.space.updated_at + LOGINS_LAG if is_changed else None


def _user_changed_at(user: MessagingUser) -> datetime | None:
    """Return when the auth service knows a pending change of ``user``, at the latest.

    None for a user who is new or has no pending change.
    """
    is_changed = user.generation > user.observed_generation > 0
    return user.updated_at + LOGINS_LAG if is_changed else None
