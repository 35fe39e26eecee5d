"""The registry of address types and of their settings.

A new type is one row of ``REGISTRY`` and a value of ``tenants.models.AddressType``, which the
database checks. If rows and values differ, the import of ``tenants.address_rules`` fails. Catalog
parsing, validation, drivers, metering, portal and client examples read the rows. A type with a new
``BrokerForm`` also needs code for routers and brokers.

A new setting is one field of ``PlanSettings`` or ``AddressSettings``, and a migration. These read
``SETTINGS``: the columns of ``Address``, validation, the REST fields, the options of ``waypost
addresses``, the portal's form, the catalog's defaults and the comparison with a broker's settings.
A setting needs code in ``broker_xml`` only if more than its value goes into the broker's file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from typing import Any

_TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000
# Space type -> a description for people who choose one.
SPACE_TYPES = {
    "standard": "Routers in front of brokers.",
    "brokered": "One broker that clients reach; strict order.",
}
_BOTH = tuple(SPACE_TYPES)
_STORED = ("queue", "topic")


class BrokerForm(StrEnum):
    """The entity on a broker that an address becomes."""

    QUEUE = "queue"
    TOPIC = "topic"
    QUEUE_OF_TOPIC = "queue of a topic"  # no address of its own
    ABSENT = "absent"  # routers deliver directly


class Width(IntEnum):
    """The largest number that a setting's column holds.

    The API refuses a larger number with ``request.invalid``. A number that fits the column, but not
    the setting's own range, is refused with ``address.invalid``.
    """

    INT_32 = 2**31 - 1
    INT_53 = 2**53 - 1  # many JSON clients use doubles and lose digits of larger integers


@dataclass(frozen=True)
class Unit:
    """The unit in which a number is stored, and the larger unit that the portal's form uses.

    ``size`` base units make one unit of the form. The setting's name ends with ``suffix``; the name
    of its form field ends with ``form_suffix`` instead.
    """

    title: str = ""
    suffix: str = ""
    form_title: str = ""
    form_suffix: str = ""
    size: int = 1


TIMES = Unit()
MILLISECONDS = Unit("milliseconds", "_ms", "seconds", "_seconds", 1000)
BYTES = Unit("bytes", "_bytes", "MiB", "_mebibytes", 2**20)


@dataclass(frozen=True)
class Whole:
    """The value of a setting that is a whole number in a range (both ends included).

    * ``plan_default``: the value of a plan that does not name the setting; None means no limit.
    * ``is_cap``: the plan's value is an upper limit, which an address can only lower.
    * ``if_unset``: what the broker's file says if neither address nor plan has a value; None leaves
      the setting out of the file.
    """

    smallest: int
    largest: int
    unit: Unit = TIMES
    width: Width = Width.INT_53
    plan_default: int | None = None
    is_cap: bool = False
    if_unset: int | None = None

    def range_words(self) -> str:
        """Return the range as a sentence for help texts: ``From 1 to 1000 milliseconds.``"""
        words = f"From {self.smallest} to {min(self.largest, self.width)} {self.unit.title}"
        return f"{words.rstrip()}."


@dataclass(frozen=True)
class Reference:
    """The value of a setting that names another address of the space; empty means none.

    ``refers_to`` is the type of that address. ``is_fixed``: the setting can never change, and a
    foreign key stores it; else a column stores the name.
    """

    refers_to: str
    is_fixed: bool = False


@dataclass(frozen=True)
class Setting:
    """One setting of an address.

    * ``types``, ``spaces``: the address types and space types that offer it.
    * ``help_text``: a sentence for people who use the API, the command or the portal.
    * ``engine``: the broker's settings that get the value: name in ``broker.xml`` -> name in the
      broker's management requests and answers.
    """

    name: str
    value: Whole | Reference
    title: str
    help_text: str
    types: tuple[str, ...] = _STORED
    spaces: tuple[str, ...] = _BOTH
    engine: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_fixed(self) -> bool:
        """Whether the setting can never change after the address was created."""
        return isinstance(self.value, Reference) and self.value.is_fixed

    def is_offered(self, space_type: str, address_type: str) -> bool:
        """Return whether an address of this type has the setting in a space of this type."""
        return address_type in self.types and space_type in self.spaces


def _row(value: Whole | Reference, title: str, help_text: str, **more: Any) -> Any:
    """Return a field of a settings class; its metadata become a row of ``SETTINGS``."""
    row = {"value": value, "title": title, "help_text": help_text, **more}
    return field(default=None if isinstance(value, Whole) else "", metadata=row)


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """The settings for which an address plan has a value. None means no limit."""

    message_ttl_ms: int | None = _row(
        Whole(1, _TEN_YEARS_MS, MILLISECONDS, is_cap=True),
        "Message lifetime",
        "How long a message is kept at most.",
        # expiry-delay is for messages without a time to live; max-expiry-delay caps that of others.
        engine={"expiry-delay": "expiryDelay", "max-expiry-delay": "maxExpiryDelay"},
    )
    max_delivery_attempts: int | None = _row(
        # -1: unlimited. After the last attempt a broker without a dead-letter address would drop
        # the message, so ``desired_brokers`` limits attempts only where there is such an address.
        Whole(1, 1_000_000, width=Width.INT_32, plan_default=10, if_unset=-1),
        "Delivery attempts",
        "How often a message is delivered before it goes to the dead letters.",
        engine={"max-delivery-attempts": "maxDeliveryAttempts"},
    )
    redelivery_delay_ms: int | None = _row(
        Whole(0, _TEN_YEARS_MS, MILLISECONDS, plan_default=0, if_unset=0),
        "Redelivery delay",
        "How long a message waits before it is delivered once more.",
        engine={"redelivery-delay": "redeliveryDelay"},
    )
    max_bytes: int | None = _row(
        Whole(1, 2**53, BYTES, plan_default=104_857_600, is_cap=True),
        "Size limit",
        "How much the address stores before it refuses messages.",
        engine={"page-limit-bytes": "pageLimitBytes"},
    )


@dataclass(frozen=True, kw_only=True)
class AddressSettings(PlanSettings):
    """The settings of one address. None means the plan's value; zero is a value of its own."""

    dead_letter: str = _row(
        Reference("queue"),
        "Dead letters go to",
        "Another queue of the space, for messages that could not be delivered.",
        spaces=("brokered",),
        engine={"dead-letter-address": "deadLetterAddress", "expiry-address": "expiryAddress"},
    )
    topic: str = _row(
        Reference("topic", is_fixed=True),
        "Topic",
        "For a subscription: the topic that it subscribes to.",
        types=("subscription",),
    )

    def columns(self) -> dict[str, int | str | None]:
        """Return the settings that are columns of ``Address``: all that are not foreign keys."""
        return {row.name: getattr(self, row.name) for row in SETTINGS if not row.is_fixed}

    def given(self) -> dict[str, int | str]:
        """Return the settings that have a value here, by name. Zero is a value."""
        values = {row.name: getattr(self, row.name) for row in SETTINGS}
        return {name: value for name, value in values.items() if value not in (None, "")}


SETTINGS = tuple(Setting(name=found.name, **found.metadata) for found in fields(AddressSettings))
SETTING = {row.name: row for row in SETTINGS}


def numbers() -> dict[str, Whole]:
    """Return the settings that are numbers, by name: those of ``PlanSettings``."""
    return {row.name: row.value for row in SETTINGS if isinstance(row.value, Whole)}


def effective(own: AddressSettings, plan: PlanSettings) -> AddressSettings:
    """Return the settings in force for an address with the settings ``own`` on the plan ``plan``.

    A number is the address's own, else the plan's. Of a cap, the lower of both counts. None in the
    result means no limit.
    """
    found: dict[str, Any] = {row.name: getattr(own, row.name) for row in SETTINGS}
    for name, number in numbers().items():
        known = [value for value in (found[name], getattr(plan, name)) if value is not None]
        # ``known`` lists the own value first. It excludes None only, because zero is a value.
        found[name] = (min(known) if number.is_cap else known[0]) if known else None
    return AddressSettings(**found)


@dataclass(frozen=True)
class AddressTypeRow:
    """One address type; ``slug`` is its name in the API and the database.

    ``spaces``: the space types that offer it. ``is_jms_topic``: a JMS client uses a Topic for it,
    else a Queue. ``is_read_only``: clients only receive, so messages in are not billed.
    ``refusal``: tells a caller what to do instead of a type that no space offers.
    """

    slug: str
    spaces: tuple[str, ...]
    broker_form: BrokerForm
    help_text: str
    is_jms_topic: bool = False
    is_read_only: bool = False
    refusal: str = ""

    @property
    def is_stored(self) -> bool:
        """Whether a broker stores its messages. Routers deliver and count all others themselves."""
        return self.broker_form is not BrokerForm.ABSENT


REGISTRY = (
    AddressTypeRow("queue", _BOTH, BrokerForm.QUEUE, "Kept until one receiver takes it."),
    AddressTypeRow(
        "topic", _BOTH, BrokerForm.TOPIC, "Every subscriber gets a copy.", is_jms_topic=True
    ),
    AddressTypeRow(
        "subscription",
        _BOTH,
        BrokerForm.QUEUE_OF_TOPIC,
        "Keeps a topic's messages for a receiver that comes and goes.",
        is_jms_topic=True,
    ),
    AddressTypeRow(
        "anycast",
        ("standard",),
        BrokerForm.ABSENT,
        "Delivered directly to one connected receiver; not stored.",
    ),
    AddressTypeRow(
        "multicast",
        ("standard",),
        BrokerForm.ABSENT,
        "Delivered directly to every connected receiver; not stored.",
        is_jms_topic=True,
    ),
    AddressTypeRow(
        "deadletter",
        (),
        BrokerForm.QUEUE,
        "Where messages go that could not be delivered.",
        is_read_only=True,
        refusal="Dead letters go to a queue for now: set it as dead_letter of another queue.",
    ),
)
BY_SLUG = {row.slug: row for row in REGISTRY}
# Without this check, a misspelled type or space would only hide the setting from API and portal.
for _setting in SETTINGS:
    if not BY_SLUG.keys() >= set(_setting.types) or not SPACE_TYPES.keys() >= set(_setting.spaces):
        raise RuntimeError(f"the setting {_setting.name} names an unknown address or space type")


def offered_in(space_type: str) -> tuple[str, ...]:
    """Return the address types that a space of this type offers, in the order of ``REGISTRY``."""
    return tuple(row.slug for row in REGISTRY if space_type in row.spaces)
