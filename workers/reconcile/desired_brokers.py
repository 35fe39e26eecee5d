"""Build the desired state and the instance specification of one broker from the rows of a pass.

It changes nothing in the database, at brokers or on the platform.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings, BrokerForm
from controlplane.core.instance_names import Kind, Listener
from plans.catalog import publishing
from plans.catalog.definitions import SpacePlanDefinition
from tenants.models import Address, Broker, MessagingUser
from workers.infra.base import InstanceSpec, Layout
from workers.instances import SecretName
from workers.messaging.brokers import desired, render
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    BrokerSizes,
    ClientLimits,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    EngineLayout,
    Permission,
)
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows

# How a broker implements each form; None: the broker has no address of that name. A subscription is
# a queue on the address of its topic. A form that is missing here raises KeyError.
_KINDS: Mapping[BrokerForm, BrokerAddressKind | None] = {
    BrokerForm.QUEUE: BrokerAddressKind.QUEUE,
    BrokerForm.TOPIC: BrokerAddressKind.TOPIC,
    BrokerForm.QUEUE_OF_TOPIC: None,
    BrokerForm.ABSENT: None,
}


def build(
    rows: SpaceRows, keys: SpaceKeys, broker: Broker, *, emptied: bool = False
) -> DesiredBroker:
    """Return the desired state of ``broker``, with the addresses of ``list_addresses``.

    Only brokers of a brokered space have users. ``emptied``: without users and addresses.

    Raises:
        KeyError: a certificate of the broker was not issued yet.
    """
    addresses = [] if emptied else list_addresses(rows, broker)
    # In a standard space clients log in at the routers, so its brokers know no users.
    has_users = rows.is_brokered and not emptied
    users = [_user(row) for row in rows.wanted_users] if has_users else []
    plan = publishing.space_plan_definition(rows.space.space_plan)
    return DesiredBroker(
        public=rows.is_brokered,
        addresses=addresses,
        users=users,
        send_withdrawn=rows.space.send_withdrawn,
        server=keys.pair(SecretName.server(broker.name)),
        authority_pem=keys.authority_pem,
        max_connections=plan.max_connections,
        sizes=BrokerSizes(
            plan.broker_message_memory_mb, plan.broker_journal, plan.broker_persistent
        ),
        client_limits=_client_limits(plan) if rows.is_brokered else ClientLimits(),
        public_certificate=keys.public_pair if rows.is_brokered else None,
        throttle_percent=rows.space.throttle_percent if rows.is_brokered else None,
    )


def spec(
    rows: SpaceRows, keys: SpaceKeys, broker: Broker, layout: Layout, *, emptied: bool = False
) -> InstanceSpec:
    """Return the instance specification of ``broker``, with its rendered files.

    ``layout`` is the broker's. ``emptied`` is as in ``build``.
    """
    engine_layout = EngineLayout(
        layout.config_dir,
        layout.data_dir,
        layout.bind_host,
        layout.ports[Listener.AMQPS],
        layout.ports[Listener.MANAGEMENT],
    )
    plan = publishing.space_plan_definition(rows.space.space_plan)
    return InstanceSpec(
        namespace=rows.namespace,
        kind=Kind.BROKER,
        name=broker.name,
        files=render.files(build(rows, keys, broker, emptied=emptied), engine_layout),
        memory_mb=plan.broker_memory_mb,
        cpu_millis=plan.broker_cpu_millis,
        disk_gb=plan.broker_disk_gb,
        persistent=plan.broker_persistent,
        placement=plan.placement,
        # There are no releases where engines run as local programs, which have no images.
        image=rows.release.broker_image if rows.release else "",
        live_files=render.LIVE_FILES,
        secret_files=render.SECRET_FILES,
    )


def list_addresses(rows: SpaceRows, broker: Broker) -> Sequence[DesiredAddress]:
    """Return the wanted addresses that are placed on ``broker`` and that a broker can hold.

    Subscriptions are not in the list: each is a queue of its topic. In a partial pass only the
    changed addresses and the topics in ``rows.nearby`` are listed.
    """
    wanted = [*rows.wanted_addresses, *rows.nearby]
    plan = publishing.space_plan_definition(rows.space.space_plan)
    in_memory = not plan.broker_persistent
    placed = [address for address in wanted if is_on(address, broker)]
    # The broker can send dead letters only to an address of its own.
    names = {address.address for address in placed if desired.is_possible(address.address)}
    present = names.union(rows.dead_letters.get(broker.id, ()))
    return [
        DesiredAddress(
            address.address,
            kind,
            limits(address, present),
            subscriptions=[
                row.address
                for row in rows.wanted_addresses
                if row.topic_id == address.id and desired.is_possible(row.address)
            ],
            subscription_limits=_subscription_limits(rows, address),
            in_memory=in_memory,
            read_only=address_types.BY_SLUG[address.type].is_read_only,
        )
        for address in placed
        if address.address in names
        and (kind := _KINDS[address_types.BY_SLUG[address.type].broker_form]) is not None
    ]


def _client_limits(plan: SpacePlanDefinition) -> ClientLimits:
    return ClientLimits(
        message_bytes=None if plan.max_message_kb is None else plan.max_message_kb * 1024,
        user_connections=plan.max_user_connections,
        sessions=plan.max_connection_sessions,
        senders=plan.max_connection_senders,
        receivers=plan.max_connection_receivers,
        connection_rate=plan.max_connection_rate,
        user_rate=plan.max_user_rate,
    )


def is_on(address: Address, broker: Broker) -> bool:
    """Return whether a placement of ``address`` is on ``broker``."""
    return any(placement.broker_id == broker.id for placement in address.placements.all())


def limits(address: Address, present: set[str]) -> AddressSettings:
    """Return the effective settings: the address's own, within what its plan allows.

    ``present``: the names of addresses on the same broker. A target of dead letters or expired
    messages that is not among them is left out. Without a target of dead letters, the limit of
    delivery attempts is left out too: the broker would otherwise drop a message after the last
    attempt.
    """
    plan = publishing.address_plan_definition(address.address_plan)
    found = address_types.effective(address.settings, plan)
    if found.expiry not in present:
        found = replace(found, expiry="")
    if found.dead_letter in present:
        return found
    return replace(found, dead_letter="", max_delivery_attempts=None)


def _subscription_limits(rows: SpaceRows, topic: Address) -> Mapping[str, AddressSettings]:
    """Return {subscription: its effective settings}, for those that limit their consumers.

    No other setting of a subscription is set at its queue.
    """
    return {
        # No names of addresses: targets of dead letters and expired messages do not matter here.
        address.address: limits(address, set())
        for address in rows.wanted_addresses
        if address.topic_id == topic.id and address.settings.max_consumers is not None
    }


def _user(row: MessagingUser) -> DesiredUser:
    return DesiredUser(
        name=row.name,
        verifiers=row.verifiers,
        since=row.created_at,
        permissions=[
            Permission(permission["addresses"], permission["operations"])
            for permission in row.permissions
        ],
    )
