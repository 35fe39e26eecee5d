"""Create, change and delete addresses of a space.

The actions change rows only; the workers apply the change to brokers and routers. ``create`` also
chooses the brokers or routers of the address. It refuses an address that does not fit the credits
and bytes of the space plan. Every action locks the space's row, so that what it checks stays true
until the commit. ``create`` locks the tenant's row first.
"""

from collections.abc import Collection, Sequence

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, operations, restarts
from controlplane.core.address_types import SETTING, AddressSettings
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.catalog import publishing
from plans.quotas.resources import Resource
from tenants import address_admission, address_rules, admission, configuration_size, placement
from tenants.actions import address_spaces
from tenants.models import Address, AddressSpace, Broker, Placement

SUBJECT = "address"


class AddressTerminating(Conflict):
    """The address is being deleted, so it cannot change."""

    code = "address.terminating"


def create(
    *,
    space: AddressSpace,
    address: str,
    type: str,
    address_plan: str,
    settings: AddressSettings | None = None,
    by: Actor,
) -> tuple[Address, Operation]:
    """Check a new address against rules and quotas, choose its brokers, and store it.

    Returns the address and the operation to poll. ``address`` is the name, ``address_plan`` the key
    of the plan. The number of queries does not grow with the number of addresses.

    Raises:
        Invalid: a value is wrong. NoPlan: the tenant has no plan. Denied: its plan does not include
        the address plan. AddressExists: the space has this name, or one that routers treat as
        equal. QuotaExceeded: a limit, which the message names, would be exceeded. SpaceTerminating:
        the space is being deleted. ConfigurationFull: the broker's file would be too large.
    """
    wanted = settings or AddressSettings()
    address_rules.check_name(space.type, address)
    address_rules.check_type(space.type, type)
    address_rules.check_settings(space.type, type, wanted)
    plan = publishing.address_plan(address_plan)
    address_admission.check_plan(space, type, plan)
    with transaction.atomic():
        # The tenant's row before the space's, as everywhere: the other order could deadlock.
        tenant = admission.locked_tenant(space.tenant)
        locked = address_spaces.lock_for_change(space)
        address_admission.check_included(plan.key, admission.plan_of(tenant).address_plans)
        address_admission.check_free(locked, address)
        admission.check(tenant, Resource.ADDRESSES)
        admission.check_space(locked, Resource.SPACE_ADDRESSES)
        targets = address_admission.targets_of(locked, wanted, address)
        address_admission.check_lifetimes(wanted, publishing.address_plan_definition(plan))
        row = Address(
            space=locked,
            address=address,
            type=type,
            address_plan=plan,
            topic=address_admission.topic_of(locked, type, wanted.topic),
            **wanted.columns(),
        )
        _place(row, targets)
        configuration_size.check(locked)  # of the stored rows, so the new one must be there
        operation = _begin(row, f"{SUBJECT}.create", by)
        after = {"type": type, "plan": plan.key, **wanted.columns()}
        audit.record(by, f"{SUBJECT}.create", subject(row), after=after)
    return row, operation


def update(
    *, address: Address, settings: AddressSettings, by: Actor, if_generation: int | None = None
) -> tuple[Address, Operation]:
    """Replace all settings of the address; return the address and the operation to poll.

    A number without a value in ``settings`` returns to the plan's value; a text or a target without
    one becomes empty. Settings that are fixed at creation, such as the topic of a subscription,
    stay as they are.

    Raises:
        GenerationChanged: ``if_generation`` is given and is not the row's generation. Invalid: a
        setting is wrong. AddressTerminating: the address is being deleted. SpaceTerminating: its
        space is. QuotaExceeded: an address that takes dead or expired messages does not fit a
        broker of this address.
    """
    with transaction.atomic():
        locked = address_spaces.lock_for_change(address.space)
        # Again, under the lock: the row of the caller may be outdated.
        row = Address.objects.select_related("space__tenant", "address_plan").get(pk=address.pk)
        address_spaces.check_generation(row, if_generation)
        if row.deletion_requested_at is not None:
            raise AddressTerminating(
                f"The address {row.address!r} is being deleted; create it again when it is gone."
            )
        address_rules.check_settings(locked.type, row.type, settings)
        targets = address_admission.targets_of(locked, settings, row.address)
        plan = publishing.address_plan_definition(row.address_plan)
        address_admission.check_lifetimes(settings, plan)
        before = row.settings.columns()
        changes = {
            name: value for name, value in settings.columns().items() if not SETTING[name].is_fixed
        }
        for name, value in changes.items():
            setattr(row, name, value)
        # A generation above ``observed_generation`` makes the workers apply the address.
        row.generation += 1
        row.save(update_fields=[*changes, "generation", "updated_at"])
        _place_targets(row, targets)
        operation = _begin(row, f"{SUBJECT}.update", by, restarts=restarts.NONE)
        after = row.settings.columns()
        audit.record(by, f"{SUBJECT}.update", subject(row), before=before, after=after)
    return row, operation


def delete(*, address: Address, by: Actor) -> Operation:
    """Request the deletion of the address with its messages; return the operation to poll.

    Idempotent: if the address or its space is being deleted already, returns the operation of that
    deletion. Usage so far is still billed.

    Raises:
        AddressInUse: the topic has subscriptions, or the address takes dead or expired messages of
        other addresses.
    """
    with transaction.atomic():
        # Not ``lock_for_change``, which refuses: the deletion of the space is the answer then.
        address_spaces.lock(address.space)
        row = Address.objects.select_related("space__tenant", "address_plan").get(pk=address.pk)
        if row.deletion_requested_at is not None:
            return address_spaces.deletion_of(row.pk, row.space_id)
        address_admission.check_unused(row)
        row.deletion_requested_at = timezone.now()
        row.phase = Phase.TERMINATING
        row.generation += 1
        row.save(update_fields=["deletion_requested_at", "phase", "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.delete", by)
        audit.record(by, f"{SUBJECT}.delete", subject(row))
    return operation


def subject(address: Address) -> audit.Subject:
    """Return the subject of audit events about the address."""
    return audit.Subject(SUBJECT, address.pk, address.address, address.space.tenant_id)


def _place(address: Address, targets: Collection[Address]) -> None:
    """Store the new address with its placements, and the rows of new brokers that these need.

    Then place ``targets``, which take its dead and expired messages, on its brokers too. The caller
    has locked the rows of the tenant and the space.

    Raises:
        QuotaExceeded: the address, a new broker or a target does not fit.
    """
    plan = publishing.address_plan_definition(address.address_plan)
    use = admission.credit_use(address.space)
    parts = placement.place(
        use.brokers,
        use.router_credit,
        admission.space_limits(publishing.space_plan_definition(address.space.space_plan)),
        placement.Request(
            plan.router_credit,
            plan.broker_credit,
            plan.partitions,
            _topic_ordinal(address),
            sum(
                publishing.address_plan_definition(row.address_plan).broker_credit
                for row in targets
            ),
            _ordinals_of_all(targets),
            admission.bytes_of(address),
            sum(admission.bytes_of(row) for row in targets),
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
    _place_targets(address, targets)


def _place_targets(address: Address, targets: Collection[Address]) -> None:
    """Place each of ``targets`` also on those brokers of ``address`` on which it is not placed.

    A broker can move dead and expired messages only to an address of its own. A target that gets a
    placement gets a new generation. A placement stays until its address is deleted, because
    messages may be stored there.

    Raises:
        QuotaExceeded: a target does not fit a broker.
    """
    limits = admission.space_limits(publishing.space_plan_definition(address.space.space_plan))
    needed = {
        placed.broker_id: placed.broker for placed in address.placements.select_related("broker")
    }
    for target in targets:
        present = {placed.broker_id: placed.partition for placed in target.placements.all()}
        # An address that takes dead letters needs its whole credit on each of its brokers.
        credit = publishing.address_plan_definition(target.address_plan).broker_credit
        missing = [broker for key, broker in needed.items() if broker and key not in present]
        # Numbered on, because an address has one active placement for each number.
        for partition, broker in enumerate(missing, start=max(present.values()) + 1):
            # Read for each: the placement before has taken credit and bytes.
            uses = admission.credit_use(address.space).brokers
            placement.check_beside(uses, limits, broker.ordinal, credit, admission.bytes_of(target))
            Placement.objects.create(
                address=target,
                broker=broker,
                partition=partition,
                router_credit=0,
                broker_credit=credit,
            )
        if missing:
            target.generation += 1  # the workers apply it before ``address`` is ready
            target.save(update_fields=["generation", "updated_at"])


def _ordinals_of_all(targets: Collection[Address]) -> Collection[int]:
    """Return the ordinals of the brokers that hold all of ``targets``; empty without targets."""
    sets = [
        set(row.placements.filter(broker__isnull=False).values_list("broker__ordinal", flat=True))
        for row in targets
    ]
    return set.intersection(*sets) if sets else ()


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


def _begin(
    address: Address, kind: str, by: Actor, *, restarts: Sequence[str] | None = None
) -> Operation:
    operation = operations.begin(
        tenant_id=address.space.tenant_id,
        kind=kind,
        subject=(SUBJECT, address.pk, address.address),
        generation=address.generation,
        by=by,
        restarts=restarts,
    )
    address_spaces.enqueue_reconcile(address.space)
    return operation
