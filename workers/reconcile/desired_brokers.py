"""From rows to what one broker should hold. Pure but for reading rows already loaded."""

from collections.abc import Sequence

from plans import catalog
from tenants.models import Address, AddressType, Broker, MessagingUser
from workers.infra.base import InstanceSpec, Kind, Layout
from workers.messaging.brokers import desired, render
from workers.messaging.brokers.desired import (
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    Holds,
    Limits,
    Permission,
    Place,
)
from workers.reconcile import presenting
from workers.reconcile.work import Work

_HOLDS = {
    AddressType.QUEUE: Holds.QUEUE,
    AddressType.DEADLETTER: Holds.QUEUE,
    AddressType.TOPIC: Holds.TOPIC,
}


def build(work: Work, broker: Broker, *, emptied: bool = False) -> DesiredBroker:
    """Return what ``broker`` should hold; ``emptied`` of users and addresses before teardown."""
    addresses = [] if emptied else list_addresses(work, broker)
    users = [_user(row) for row in work.wanted_users] if work.is_brokered and not emptied else []
    return DesiredBroker(
        public=work.is_brokered,
        addresses=addresses,
        users=users,
        send_withdrawn=work.space.send_withdrawn,
        server=work.key_pair(f"server/{broker.name}"),
        authority_pem=work.secrets["authority"].public,
        max_connections=catalog.space_plan_definition(work.space.space_plan).max_connections,
        presented=presenting.pair(work) if work.is_brokered else None,
    )


def spec(work: Work, broker: Broker, layout: Layout, *, emptied: bool = False) -> InstanceSpec:
    """Return the instance that runs ``broker``, its files rendered."""
    place = Place(
        layout.config_dir,
        layout.data_dir,
        layout.bind_host,
        layout.ports["amqps"],
        layout.ports["management"],
    )
    return InstanceSpec(
        namespace=work.namespace,
        kind=Kind.BROKER,
        name=broker.name,
        files=render.files(build(work, broker, emptied=emptied), place),
        memory_mb=catalog.space_plan_definition(work.space.space_plan).broker_memory_mb,
        image=work.release.broker_image if work.release else "",
        live_files=render.LIVE_FILES,
        secret_files=render.SECRET_FILES,
    )


def list_addresses(work: Work, broker: Broker) -> Sequence[DesiredAddress]:
    """Return the addresses placed on ``broker``; those it cannot carry are left out."""
    placed = [each for each in work.wanted_addresses if is_on(each, broker)]
    names = {each.address for each in placed if desired.is_possible(each.address)}
    return [
        DesiredAddress(
            each.address,
            _HOLDS[AddressType(each.type)],
            limits(each, names),
            subscriptions=_subscriptions(work, each),
            read_only=each.type == AddressType.DEADLETTER,
        )
        for each in placed
        if each.address in names and AddressType(each.type) in _HOLDS
    ]


def is_on(address: Address, broker: Broker) -> bool:
    """Return whether a partition of ``address`` (of its topic, for a subscription) is there."""
    return any(each.broker_id == broker.id for each in address.placements.all())


def limits(address: Address, present: set[str]) -> Limits:
    """Return the effective settings: the address's own, within what its plan allows.

    Attempts are counted only where there is a dead-letter target; without one the broker would
    drop the message after the last attempt.
    """
    plan = catalog.address_plan_definition(address.address_plan)
    dead_letter = address.dead_letter if address.dead_letter in present else ""
    attempts = _or_plan(address.max_delivery_attempts, plan.max_delivery_attempts)
    return Limits(
        message_ttl_ms=_smaller(address.message_ttl_ms, plan.message_ttl_ms),
        max_delivery_attempts=attempts if dead_letter else None,
        redelivery_delay_ms=_or_plan(address.redelivery_delay_ms, plan.redelivery_delay_ms),
        max_bytes=_smaller(address.max_bytes, plan.max_bytes),
        dead_letter=dead_letter,
    )


def _subscriptions(work: Work, topic: Address) -> Sequence[str]:
    return [
        each.address
        for each in work.wanted_addresses
        if each.topic_id == topic.id and desired.is_possible(each.address)
    ]


def _user(row: MessagingUser) -> DesiredUser:
    return DesiredUser(
        name=row.name,
        verifiers=row.verifiers,
        since=row.created_at,
        permissions=[Permission(each["addresses"], each["operations"]) for each in row.permissions],
    )


def _smaller(own: int | None, plan: int | None) -> int | None:
    known = [each for each in (own, plan) if each is not None]
    return min(known) if known else None


def _or_plan(own: int | None, plan: int) -> int:
    return plan if own is None else own
