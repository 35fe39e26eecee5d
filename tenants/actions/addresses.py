"""Create, change and delete addresses.

``create`` also places the address: it is admitted only if the space's brokers or routers have
capacity for it. Every action locks the space's row, so that what it checks stays true until the
commit. ``create`` locks the tenant's row first.
"""

from django.db import transaction
from django.db.models import Q, Value
from django.db.models.functions import Replace
from django.utils import timezone

from controlplane.core import audit, operations
from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Denied, Invalid
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.catalog import publishing
from plans.models import AddressPlan
from plans.quotas.resources import Resource
from tenants import address_rules, admission, placement
from tenants.actions import address_spaces
from tenants.models import Address, AddressSpace, AddressType, Broker, Placement, SpaceType

SUBJECT = "address"


class AddressExists(Conflict):
    """The space already has this address."""

    code = "address.exists"


class AddressTerminating(Conflict):
    """The address is being deleted, so it cannot change."""

    code = "address.terminating"


class AddressInUse(Conflict):
    """Other addresses need this one: subscriptions of a topic, or senders of dead letters."""

    code = "address.in_use"


def create(
    *,
    space: AddressSpace,
    address: str,
    type: str,
    address_plan: str,
    settings: AddressSettings | None = None,
    by: Actor,
) -> tuple[Address, Operation]:
    """Admit and place a new address in one transaction.

    Returns the address and the operation to poll. The number of queries is constant.

    Raises:
        Invalid: name, type, plan or settings do not fit. Missing: no such plan. Denied: the
        tenant's plan does not include it. AddressExists: the space has this name, or one that
        routers treat as equal. QuotaExceeded: a limit, which the message names, would be exceeded.
        SpaceTerminating: the space is being deleted.
    """
    wanted = settings or AddressSettings()
    address_rules.check_name(space.type, address)
    address_rules.check_type(space.type, type)
    address_rules.check_settings(space.type, type, wanted)
    plan = publishing.address_plan(address_plan)
    _check_plan(space, type, plan)
    with transaction.atomic():
        # The tenant's row before the space's, as everywhere: the other order could deadlock.
        tenant = admission.locked_tenant(space.tenant)
        locked = address_spaces.lock_for_change(space)
        _check_included(plan.key, admission.plan_of(tenant).address_plans)
        _check_free(locked, address)
        admission.check(tenant, Resource.ADDRESSES)
        admission.check_space(locked, Resource.SPACE_ADDRESSES)
        _check_dead_letter(locked, wanted.dead_letter, address)
        row = Address(
            space=locked,
            address=address,
            type=type,
            address_plan=plan,
            topic=_topic(locked, type, wanted.topic),
            **wanted.columns(),
        )
        _place(row)
        operation = _begin(row, f"{SUBJECT}.create")
        after = {"type": type, "plan": plan.key, **wanted.columns()}
        audit.record(by, f"{SUBJECT}.create", subject(row), after=after)
    return row, operation


def update(
    *, address: Address, settings: AddressSettings, by: Actor, if_generation: int | None = None
) -> tuple[Address, Operation]:
    """Replace the address's settings. The topic of a subscription never changes.

    Raises:
        GenerationChanged: ``if_generation`` is not the row's. Invalid: a setting is wrong.
        AddressTerminating: the address is being deleted. SpaceTerminating: its space is.
    """
    with transaction.atomic():
        locked = address_spaces.lock_for_change(address.space)
        row = _reread(address)
        address_spaces.check_generation(row, if_generation)
        if row.deletion_requested_at is not None:
            raise AddressTerminating(
                f"The address {row.address!r} is being deleted; create it again when it is gone."
            )
        address_rules.check_settings(locked.type, row.type, settings)
        _check_dead_letter(locked, settings.dead_letter, row.address)
        # ``columns`` leaves out the topic, so an update cannot change it.
        before = row.settings.columns()
        for name, value in settings.columns().items():
            setattr(row, name, value)
        row.generation += 1
        row.save(update_fields=[*settings.columns(), "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.update")
        after = settings.columns()
        audit.record(by, f"{SUBJECT}.update", subject(row), before=before, after=after)
    return row, operation


def delete(*, address: Address, by: Actor) -> Operation:
    """Request the deletion of the address. Idempotent; its usage so far is still billed.

    Raises:
        AddressInUse: a topic still has subscriptions, or the queue takes the dead letters of other
        addresses.
    """
    with transaction.atomic():
        address_spaces.lock(address.space)
        row = _reread(address)
        if row.deletion_requested_at is not None:
            return address_spaces.deletion_of(row.pk, row.space_id)
        _check_unused(row)
        row.deletion_requested_at = timezone.now()
        row.phase = Phase.TERMINATING
        row.generation += 1
        row.save(update_fields=["deletion_requested_at", "phase", "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.delete")
        audit.record(by, f"{SUBJECT}.delete", subject(row))
    return operation


def subject(address: Address) -> audit.Subject:
    """Return the address as an audit subject."""
    return audit.Subject(SUBJECT, address.pk, address.address, address.space.tenant_id)


def _reread(address: Address) -> Address:
    return Address.objects.select_related("space__tenant", "address_plan").get(pk=address.pk)


def _check_plan(space: AddressSpace, type: str, plan: AddressPlan) -> None:
    if plan.address_type != type or plan.space_type != space.type:
        raise Invalid(
            f"The plan {plan.key!r} is for a {plan.address_type} in a {plan.space_type} space; "
            f"choose one for a {type} in a {space.type} space.",
            code=f"{SUBJECT}.plan_mismatch",
            address_plan=[f"Not a plan for a {type} in a {space.type} space."],
        )


def _check_included(key: str, allowed: tuple[str, ...]) -> None:
    if key not in allowed:
        raise Denied(
            f"Your plan does not include {key!r}; it includes: {', '.join(allowed)}. Move to a "
            "larger plan to use it.",
            code="address_plan.not_included",
            allowed=list(allowed),
        )


def _check_free(space: AddressSpace, address: str) -> None:
    """Refuse a name that is taken. The space's lock keeps a free name free until the commit."""
    taken = _alike(space, address)
    if taken is None:
        return
    leaving = taken.deletion_requested_at is not None
    hint = "It is being deleted: try again when it is gone." if leaving else "Choose another."
    if taken.address == address:
        raise AddressExists(f"There is an address {address!r} in this space already. {hint}")
    raise AddressExists(
        f"This space has {taken.address!r} already. Routers treat {address!r} as the same address, "
        f"because to them '.' equals '/'. {hint}"
    )


def _alike(space: AddressSpace, address: str) -> Address | None:
    """Return the space's address of this name, or one that its routers treat as equal."""
    # An address keeps its name until it is deleted completely, as in the constraint address_once.
    rows = space.addresses.filter(deleted_at__isnull=True)
    if space.type == SpaceType.BROKERED:
        return rows.filter(address=address).first()
    at_routers = Replace("address", Value("."), Value("/"))
    return (
        rows.alias(at_routers=at_routers)
        .filter(at_routers=address_rules.name_at_routers(address))
        .first()
    )


def _check_dead_letter(space: AddressSpace, target: str, address: str) -> None:
    if not target:
        return
    # A queue that is being deleted must not become the target of dead letters.
    queues = space.addresses.filter(type=AddressType.QUEUE, deletion_requested_at__isnull=True)
    if target == address or not queues.filter(address=target).exists():
        raise Invalid(
            f"Dead letters go to another queue of the same space; {target[:80]!r} is no such "
            "queue. Create it first.",
            code=f"{SUBJECT}.invalid",
            dead_letter=["Name another queue of this space."],
        )


def _check_unused(row: Address) -> None:
    dependents = (
        Address.objects.filter(space_id=row.space_id, deletion_requested_at__isnull=True)
        .filter(Q(topic=row) | Q(dead_letter=row.address))
        .exclude(pk=row.pk)
    )
    # Five names are enough for the message: a topic may have thousands of subscriptions.
    names = list(dependents.order_by("address").values_list("address", flat=True)[:5])
    if names:
        raise AddressInUse(
            f"{row.address!r} is the topic or the dead-letter queue of: {', '.join(names)}. Delete "
            "or change those first."
        )


def _topic(space: AddressSpace, type: str, name: str) -> Address | None:
    if type != AddressType.SUBSCRIPTION:
        return None
    found = space.addresses.filter(
        address=name, type=AddressType.TOPIC, deletion_requested_at__isnull=True
    ).first()
    if found is None:
        raise Invalid(
            f"A subscription names a topic of its space; there is no topic {name[:80]!r}.",
            code=f"{SUBJECT}.invalid",
            topic=["Name a topic of this space."],
        )
    return found


def _place(address: Address) -> None:
    """Place and store the address, and add the broker slots that the placement needs."""
    plan = publishing.address_plan_definition(address.address_plan)
    use = admission.credit_use(address.space)
    parts = placement.place(
        use.brokers,
        use.router_credit,
        admission.space_limits(publishing.space_plan_definition(address.space.space_plan)),
        placement.Request(
            plan.router_credit, plan.broker_credit, plan.partitions, _topic_ordinal(address)
        ),
    )
    brokers = _brokers(address.space, {part.ordinal for part in parts if part.ordinal is not None})
    # The address first, because its placements refer to it.
    address.save(force_insert=True)
    Placement.objects.bulk_create(
        Placement(
            address=address,
            partition=partition,
            router_credit=part.router_credit,
            broker_credit=part.broker_credit,
            broker=None if part.ordinal is None else brokers[part.ordinal],
        )
        for partition, part in enumerate(parts)
    )


def _topic_ordinal(address: Address) -> int | None:
    if address.topic is None:
        return None
    placed = address.topic.placements.select_related("broker").get(state=Placement.State.ACTIVE)
    return placed.broker.ordinal if placed.broker else None


def _brokers(space: AddressSpace, ordinals: set[int]) -> dict[int, Broker]:
    found = {broker.ordinal: broker for broker in space.brokers.filter(ordinal__in=ordinals)}
    missing = sorted(ordinals - found.keys())
    admission.check(space.tenant, Resource.BROKERS, asked=len(missing))
    made = Broker.objects.bulk_create(Broker(space=space, ordinal=ordinal) for ordinal in missing)
    return {**found, **{broker.ordinal: broker for broker in made}}


def _begin(address: Address, kind: str) -> Operation:
    operation = operations.begin(
        tenant_id=address.space.tenant_id,
        kind=kind,
        subject=(SUBJECT, address.pk, address.address),
        generation=address.generation,
    )
    address_spaces.enqueue_reconcile(address.space)
    return operation
