"""Checks of an address against plans and against the rows of its space.

``tenants.actions.addresses`` calls them. A check that reads rows needs the lock of the space's row,
so that what it finds stays true until the commit.
"""

from django.db.models import Q, Value
from django.db.models.functions import Replace

from controlplane.core.errors import Conflict, Denied, Invalid
from plans.models import AddressPlan
from tenants import address_rules
from tenants.models import Address, AddressSpace, AddressType, SpaceType


class AddressExists(Conflict):
    """The space already has this address, or one that its routers treat as equal."""

    code = "address.exists"


class AddressInUse(Conflict):
    """Other addresses need this one: it is their topic, or takes their dead letters."""

    code = "address.in_use"


def check_plan(space: AddressSpace, type: str, plan: AddressPlan) -> None:
    """Raise Invalid if the plan is for another type of address or space."""
    if plan.address_type != type or plan.space_type != space.type:
        raise Invalid(
            f"The plan {plan.key!r} is for a {plan.address_type} in a {plan.space_type} space; "
            f"choose one for a {type} in a {space.type} space.",
            code="address.plan_mismatch",
            address_plan=[f"Not a plan for a {type} in a {space.type} space."],
        )


def check_included(key: str, allowed: tuple[str, ...]) -> None:
    """Raise Denied if the tenant's plan does not include the address plan ``key``."""
    if key not in allowed:
        raise Denied(
            f"Your plan does not include {key!r}; it includes: {', '.join(allowed)}. Move to a "
            "larger plan to use it.",
            code="address_plan.not_included",
            allowed=list(allowed),
        )


def check_free(space: AddressSpace, address: str) -> None:
    """Raise AddressExists if the space has the address, or one that its routers treat as equal.

    The caller holds the space's lock, so that a free name stays free until the commit.
    """
    # A name is free only when its deletion is complete, as in the constraint ``address_once``.
    rows = space.addresses.filter(deleted_at__isnull=True)
    if space.type == SpaceType.BROKERED:
        taken = rows.filter(address=address).first()
    else:
        alike = rows.alias(at_routers=Replace("address", Value("."), Value("/")))
        taken = alike.filter(at_routers=address_rules.name_at_routers(address)).first()
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


def check_dead_letter(space: AddressSpace, target: str, address: str) -> None:
    """Raise Invalid unless ``target`` is empty or a queue of the locked space.

    The queue must be another address than ``address``, and must not be being deleted.
    """
    if not target:
        return
    # A queue that is being deleted must not become the target of dead letters.
    queues = space.addresses.filter(type=AddressType.QUEUE, deletion_requested_at__isnull=True)
    if target == address or not queues.filter(address=target).exists():
        raise Invalid(
            f"Dead letters go to another queue of the same space; {target[:80]!r} is no such "
            "queue. Create it first.",
            code="address.invalid",
            dead_letter=["Name another queue of this space."],
        )


def check_unused(row: Address) -> None:
    """Raise AddressInUse if another address of the locked space needs this one.

    Addresses that are being deleted do not count.
    """
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


def topic_of(space: AddressSpace, type: str, name: str) -> Address | None:
    """Return the topic ``name`` for a new subscription; None for other types of address.

    Raises:
        Invalid: the space has no such topic, or it is being deleted.
    """
    # ``address_rules`` has refused a topic for any other type.
    if type != AddressType.SUBSCRIPTION:
        return None
    found = space.addresses.filter(
        address=name, type=AddressType.TOPIC, deletion_requested_at__isnull=True
    ).first()
    if found is None:
        raise Invalid(
            f"A subscription names a topic of its space; there is no topic {name[:80]!r}.",
            code="address.invalid",
            topic=["Name a topic of this space."],
        )
    return found
