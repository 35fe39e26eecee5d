"""The registry of address types (``REGISTRY``) and of the settings of addresses (``SETTINGS``).

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
from enum import StrEnum
from typing import Any

from controlplane.core.setting_values import (
    BYTES,
    MILLISECONDS,
    Reference,
    Text,
    Value,
    Whole,
    Width,
)

_TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000  # milliseconds
# Space type -> a description for people who choose one.
SPACE_TYPES = {
    "standard": "Routers in front of brokers.",
    "brokered": "One broker that clients reach; strict order.",
}
ADVISED_SPACE_TYPE = "brokered"  # as docs/develop/concepts.md says
_BOTH = tuple(SPACE_TYPES)
_STORED = ("queue", "topic")
_KEPT = (*_STORED, "deadletter")  # types that store messages of their own
_BROKERED = ("brokered",)


class BrokerForm(StrEnum):
    """What an address becomes on a broker; ``ABSENT`` for one that only routers have."""

    QUEUE = "queue"
    TOPIC = "topic"
    QUEUE_OF_TOPIC = "queue of a topic"  # no address of its own
    ABSENT = "absent"  # routers deliver directly


@dataclass(frozen=True)
class Setting:
    """The description of one setting that an address can have; it holds no address's value.

    * ``name``: the name of the setting in the API, in ``AddressSettings`` and as a column.
    * ``value``: which values are valid (``controlplane.core.setting_values``).
    * ``types``, ``spaces``: the address types and space types that offer the setting.
    * ``title``, ``help_text``: a label, and sentences, for people who use the API, the command or
      the portal.
    * ``engine``: the broker's address settings that get the value: name in ``broker.xml`` -> name
      in the broker's management requests and answers. ``unset``: what the broker reports for them
      while they are not set, if that is none of the usual values.
    * ``queue``: the broker's queue attributes that get the value: name in ``broker.xml`` -> name in
      management. ``queue_unset``: what the attributes get if the setting has no value.
    """

    name: str
    value: Value
    title: str
    help_text: str
    types: tuple[str, ...] = _STORED
    spaces: tuple[str, ...] = _BOTH
    engine: Mapping[str, str] = field(default_factory=dict)
    unset: str = ""
    queue: Mapping[str, str] = field(default_factory=dict)
    queue_unset: str = ""

    @property
    def is_fixed(self) -> bool:
        """Whether the setting of an address can never change after the address was created."""
        return not isinstance(self.value, Whole) and self.value.is_fixed

    @property
    def is_relation(self) -> bool:
        """Whether a foreign key of ``Address`` stores the setting, and no column of its name."""
        return isinstance(self.value, Reference) and self.value.is_fixed

    @property
    def takes_messages(self) -> bool:
        """Whether the value names an address to which brokers move dead or expired messages."""
        return isinstance(self.value, Reference) and not self.value.is_fixed

    def is_offered(self, space_type: str, address_type: str) -> bool:
        """Return whether such an address, in such a space, may have this setting."""
        return address_type in self.types and space_type in self.spaces


def _row(value: Value, title: str, help_text: str, **more: Any) -> Any:
    """Return a dataclass field without a value by default: None for a number, "" for a text.

    The metadata of the field become a row of ``SETTINGS``. ``more`` are further fields of
    ``Setting``.
    """
    row = {"value": value, "title": title, "help_text": help_text, **more}
    return field(default=None if isinstance(value, Whole) else "", metadata=row)


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """The values that an address plan sets for its addresses, which may set their own.

    All are numbers. None means that the plan sets nothing: no limit, or the broker's own behavior.
    """

    message_ttl_ms: int | None = _row(
        Whole(1, _TEN_YEARS_MS, MILLISECONDS, is_cap=True),
        "Message lifetime",
        "How long a message is kept at most.",
        types=_KEPT,
        # It also applies to messages without a time to live. With an expiry-delay the broker would
        # ignore it (``PostOfficeImpl.applyExpiryDelay``).
        engine={"max-expiry-delay": "maxExpiryDelay"},
    )
    message_ttl_default_ms: int | None = _row(
        Whole(1, _TEN_YEARS_MS, MILLISECONDS),
        "Default message lifetime",
        "How long a message is kept if its sender gives it no time to live. Not together with "
        "message_ttl_ms, which applies to such messages too.",
        engine={"expiry-delay": "expiryDelay"},
    )
    message_ttl_min_ms: int | None = _row(
        Whole(1, _TEN_YEARS_MS, MILLISECONDS),
        "Shortest message lifetime",
        "How long a message is kept at least, whatever time to live its sender gives it. Needs "
        "message_ttl_ms.",
        engine={"min-expiry-delay": "minExpiryDelay"},
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
    redelivery_multiplier: int | None = _row(
        Whole(1, 100, width=Width.INT_32),
        "Redelivery multiplier",
        "By how much the redelivery delay grows with each attempt. Without it the delay stays the "
        "same.",
        engine={"redelivery-delay-multiplier": "redeliveryMultiplier"},
        unset="1.0",
    )
    max_redelivery_delay_ms: int | None = _row(
        Whole(1, _TEN_YEARS_MS, MILLISECONDS),
        "Longest redelivery delay",
        "To how much the redelivery delay grows at most. Without it: ten times the delay.",
        engine={"max-redelivery-delay": "maxRedeliveryDelay"},
    )
    max_bytes: int | None = _row(
        Whole(1, 2**53, BYTES, plan_default=104_857_600, is_cap=True),
        "Size limit",
        "How much the address stores before it refuses messages.",
        types=_KEPT,
        engine={"page-limit-bytes": "pageLimitBytes"},
    )


@dataclass(frozen=True, kw_only=True)
class AddressSettings(PlanSettings):
    """The values of all settings of one address, by setting.

    None means the plan's value, or nothing if plans do not have the setting. An empty text means
    the default that the setting's ``help_text`` states. Zero is a value.
    """

    dead_letter: str = _row(
        # A space whose address of this name is gone, or is older than the rule, has no default.
        Reference(
            {"standard": ("deadletter",), "brokered": ("deadletter", "queue")},
            default="dead-letters",
        ),
        "Dead letters go to",
        "Where messages go that receivers rejected or could not process: an address of type "
        "deadletter, in a brokered space also another queue. Default: the address dead-letters, if "
        "the space has it. Empty means none: a rejected message is then deleted, and one that "
        "could not be processed is delivered again without end.",
        engine={"dead-letter-address": "deadLetterAddress"},
    )
    expiry: str = _row(
        Reference({"standard": ("deadletter",), "brokered": ("deadletter", "queue")}),
        "Expired messages go to",
        "Where messages go whose lifetime has ended. Without it they go where dead letters go; "
        "without both they are deleted.",
        engine={"expiry-address": "expiryAddress"},
    )
    max_consumers: int | None = _row(
        Whole(1, 1_000_000, width=Width.INT_32),
        "Receivers",
        "How many receivers may be attached at the same time. Default: no limit.",
        types=("queue", "subscription"),
        spaces=_BROKERED,
        queue={"max-consumers": "maxConsumers"},
        queue_unset="-1",
    )
    when_full: str = _row(
        Text(("refuse", "block")),
        "When full",
        "refuse (default): messages beyond the size limit are refused. block: senders get no "
        "credit until there is space again; at most 8 MiB are stored then.",
        spaces=_BROKERED,
    )
    exclusive: str = _row(
        Text(("yes", "no")),
        "One receiver at a time",
        "yes: one of the attached receivers gets all messages; another one follows when it leaves. "
        "Default: no.",
        types=("queue",),
        spaces=_BROKERED,
        queue={"exclusive": "exclusive"},
        queue_unset="false",
    )
    group_rebalance: str = _row(
        Text(("yes", "no")),
        "Divide groups again",
        "yes: a new receiver makes the queue assign all message groups to receivers again. "
        "Default: no.",
        types=("queue",),
        spaces=_BROKERED,
        queue={"group-rebalance": "groupRebalance"},
        queue_unset="false",
    )
    ring_size: int | None = _row(
        Whole(1, 1_000_000_000, width=Width.INT_53),
        "Ring size",
        "How many messages the queue keeps: each one more deletes the oldest. Default: no ring.",
        types=("queue",),
        spaces=_BROKERED,
        queue={"ring-size": "ringSize"},
        queue_unset="-1",
    )
    last_value_key: str = _row(
        Text(is_fixed=True),
        "Last value by",
        "A property of messages: of those with the same value the queue keeps the last one only. "
        "Default: the queue keeps all.",
        types=("queue",),
        spaces=_BROKERED,
        queue={"last-value-key": "lastValueKey"},
    )
    topic: str = _row(
        Reference(dict.fromkeys(_BOTH, ("topic",)), is_fixed=True),
        "Topic",
        "For a subscription: the topic that it subscribes to.",
        types=("subscription",),
    )

    def columns(self) -> dict[str, int | str | None]:
        """Return {name: value} of all settings that are columns of ``Address``.

        Settings without a value are included. Settings that a foreign key stores (``topic``) are
        left out.
        """
        return {row.name: getattr(self, row.name) for row in SETTINGS if not row.is_relation}

    def given(self) -> dict[str, int | str]:
        """Return {name: value} of the settings that are neither None nor empty. Zero is a value."""
        values = {row.name: getattr(self, row.name) for row in SETTINGS}
        return {name: value for name, value in values.items() if value not in (None, "")}


SETTINGS = tuple(Setting(name=found.name, **found.metadata) for found in fields(AddressSettings))
SETTING = {row.name: row for row in SETTINGS}


def numbers() -> dict[str, Whole]:
    """Return {name: range and unit} of the settings whose value is a number."""
    return {row.name: row.value for row in SETTINGS if isinstance(row.value, Whole)}


def of_plans() -> dict[str, Whole]:
    """Return {name: range and unit} of the settings that an address plan can set.

    These are the fields of ``PlanSettings``, which are all numbers.
    """
    names = {found.name for found in fields(PlanSettings)}
    return {name: number for name, number in numbers().items() if name in names}


def texts() -> dict[str, Text]:
    """Return {name: valid texts} of the settings whose value is a text and names no address."""
    return {row.name: row.value for row in SETTINGS if isinstance(row.value, Text)}


def effective(own: AddressSettings, plan: PlanSettings) -> AddressSettings:
    """Return the settings in force for an address with the settings ``own`` on the plan ``plan``.

    * A number is the address's own value, else the plan's, else None. Of a cap
      (``Whole.is_cap``), the lower of both counts.
    * ``expiry`` is ``dead_letter`` if the address has none of its own.
    * If there is a longest lifetime, ``message_ttl_default_ms`` is None, and ``message_ttl_min_ms``
      is at most the longest lifetime. Without one, ``message_ttl_min_ms`` is None.
    """
    found: dict[str, Any] = {row.name: getattr(own, row.name) for row in SETTINGS}
    for name, number in of_plans().items():
        known = [value for value in (found[name], getattr(plan, name)) if value is not None]
        # ``known`` lists the own value first. It excludes None only, because zero is a value.
        found[name] = (min(known) if number.is_cap else known[0]) if known else None
    found["expiry"] = found["expiry"] or found["dead_letter"]
    longest, shortest = found["message_ttl_ms"], found["message_ttl_min_ms"]
    if longest is None:
        # The broker would give it to all messages without a time to live.
        found["message_ttl_min_ms"] = None
    else:
        found["message_ttl_default_ms"] = None
        found["message_ttl_min_ms"] = None if shortest is None else min(shortest, longest)
    return AddressSettings(**found)


@dataclass(frozen=True)
class AddressTypeRow:
    """The description of one address type; ``slug`` is its name in the API and the database.

    * ``spaces``: the types of space that offer the address type.
    * ``broker_form``: what an address of the type becomes on a broker.
    * ``help_text``: a sentence for people who choose a type.
    * ``is_jms_topic``: a JMS client uses a Topic for such an address; otherwise a Queue.
    * ``is_read_only``: clients only receive from such an address. Only brokers put messages into
      it, and these are not billed as messages in.
    """

    slug: str
    spaces: tuple[str, ...]
    broker_form: BrokerForm
    help_text: str
    is_jms_topic: bool = False
    is_read_only: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether a broker stores the messages of such an address.

        Routers deliver and count the messages of all other types themselves.
        """
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
        _BOTH,
        BrokerForm.QUEUE,
        "Takes the rejected and expired messages of other addresses; clients only receive.",
        is_read_only=True,
    ),
)
BY_SLUG = {row.slug: row for row in REGISTRY}
# Without this check, a misspelled type or space would only hide the setting from API and portal.
for _setting in SETTINGS:
    if not BY_SLUG.keys() >= set(_setting.types) or not SPACE_TYPES.keys() >= set(_setting.spaces):
        raise RuntimeError(f"the setting {_setting.name} names an unknown address or space type")


def offered_in(space_type: str) -> tuple[str, ...]:
    """Return the slugs of the address types that a ``space_type`` space offers.

    They are in the order of ``REGISTRY``; there are none for an unknown type of space.
    """
    return tuple(row.slug for row in REGISTRY if space_type in row.spaces)
