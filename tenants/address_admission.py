"""Check a new or changed address against plans and against the rows of its space.

``tenants.actions.addresses`` calls these checks. A check that reads rows needs the lock of the
space's row, so that what it finds stays true until the commit.
"""

from django.db.models import Q, Value
from django.db.models.functions import Replace

from controlplane.core import address_types
from controlplane.core.address_types import SETTING, SETTINGS, AddressSettings, PlanSettings
from controlplane.core.errors import Conflict, Denied, Invalid
from controlplane.core.setting_values import Reference
from plans.models import AddressPlan
from tenants import address_rules
from tenants.models import Address, AddressSpace, AddressType, SpaceType


class AddressExists(Conflict):
    """The space already has an address of this name, or of one that its routers treat as equal."""

    code = "address.exists"


class AddressInUse(Conflict):
    """Other addresses need this one: it is their topic, or takes their dead or expired messages."""

    code = "address.in_use"


def check_plan(space: AddressSpace, type: str, plan: AddressPlan) -> None:
    """Raise Invalid if ``plan`` is for another type of address than ``type``, or of space."""
    if plan.address_type != type or plan.space_type != space.type:
        raise Invalid(
            f"The plan {plan.key!r} is for a {plan.address_type} in a {plan.space_type} space; "
            f"choose one for a {type} in a {space.type} space.",
            code="address.plan_mismatch",
            plan=[f"Not a plan for a {type} in a {space.type} space."],
        )


def check_included(key: str, allowed: tuple[str, ...]) -> None:
    """Raise Denied if the address plan ``key`` is not among ``allowed``.

    ``allowed`` are the keys of the address plans that the tenant's own plan includes.
    """
    if key not in allowed:
        raise Denied(
            f"Your plan does not include {key!r}; it includes: {', '.join(allowed)}. Move to a "
            "larger plan to use it.",
            code="address_plan.not_included",
            allowed=list(allowed),
        )


def check_free(space: AddressSpace, address: str) -> None:
    """Raise AddressExists if the name ``address`` is taken in the space.

    In a standard space an address that routers treat as equal takes the name too, and everywhere
    one that is still being deleted. The caller holds the lock of the space's row, so that a free
    name stays free until the commit.
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


def targets_of(space: AddressSpace, settings: AddressSettings, address: str) -> list[Address]:
    """Return the addresses that ``settings`` name for dead letters and expired messages, each once.

    ``address`` is the name of the address that has or will have ``settings``. The caller has locked
    the row of ``space``.

    Raises:
        Invalid: a target is ``address`` itself, has a type that cannot be a target, is being
        deleted, or does not exist.
    """
    named = {
        setting.name: (value, setting.value.refers_to[space.type])
        for setting in SETTINGS
        if isinstance(setting.value, Reference)
        and setting.takes_messages
        and (value := getattr(settings, setting.name))
    }
    if not named:
        return []
    # An address that is being deleted must not become a target.
    present = space.addresses.filter(deletion_requested_at__isnull=True)
    rows = present.filter(address__in={value for value, _types in named.values()})
    found = {row.address: row for row in rows.select_related("address_plan")}
    for name, (value, types) in named.items():
        if value == address or value not in found or found[value].type not in types:
            kinds = " or ".join(types)
            raise Invalid(
                f"{SETTING[name].title}: name another address of this space of type {kinds}; "
                f"{value[:80]!r} is none. Create it first.",
                code="address.invalid",
                **{name: [f"Name another address of type {kinds} of this space."]},
            )
    return list(found.values())


def check_lifetimes(settings: AddressSettings, plan: PlanSettings) -> None:
    """Raise Invalid if a lifetime in ``settings`` contradicts the longest lifetime in force.

    The longest lifetime in force comes from ``settings`` or ``plan``. If there is one,
    ``message_ttl_default_ms`` would have no effect, and ``message_ttl_min_ms`` must not be larger.
    Without one, ``message_ttl_min_ms`` is refused: the broker would give this lifetime to all
    messages without a time to live.
    """
    longest = address_types.effective(settings, plan).message_ttl_ms
    if settings.message_ttl_default_ms is not None and longest is not None:
        raise Invalid(
            "message_ttl_default_ms has no effect together with message_ttl_ms, which applies to "
            "messages without a time to live too. Leave one of them out.",
            code="address.invalid",
            message_ttl_default_ms=["Not together with message_ttl_ms."],
        )
    shortest = settings.message_ttl_min_ms
    if shortest is not None and (longest is None or shortest > longest):
        raise Invalid(
            "message_ttl_min_ms needs message_ttl_ms, as large or larger: without it, messages "
            "without a time to live would expire after the shortest lifetime.",
            code="address.invalid",
            message_ttl_min_ms=["Set message_ttl_ms too; it must not be smaller."],
        )


def check_unused(row: Address) -> None:
    """Raise AddressInUse if another address of the space needs ``row``.

    Another address needs ``row`` if ``row`` is its topic, or takes its dead or expired messages.
    Addresses that are being deleted do not count. The caller has locked the row of the space.
    """
    dependents = (
        Address.objects.filter(space_id=row.space_id, deletion_requested_at__isnull=True)
        .filter(Q(topic=row) | Q(dead_letter=row.address) | Q(expiry=row.address))
        .exclude(pk=row.pk)
    )
    # Five names are enough for the message: a topic may have thousands of subscriptions.
    names = list(dependents.order_by("address").values_list("address", flat=True)[:5])
    if names:
        raise AddressInUse(
            f"{row.address!r} is the topic, or takes dead or expired messages, of: "
            f"{', '.join(names)}. Delete or change those first."
        )


def topic_of(space: AddressSpace, type: str, name: str) -> Address | None:
    """Return the row of the topic ``name`` for a new subscription; None for any other ``type``.

    Raises:
        Invalid: the space has no topic of this name, or the topic is being deleted.
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
