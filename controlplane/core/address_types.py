"""The registry of address types and of their settings.

A new type is one row of ``REGISTRY``, a value of ``tenants.models.AddressType`` (which the database
checks), and what routers and brokers do with it. ``tenants.address_rules`` refuses to start when
rows and values differ. Catalog parsing, validation, drivers, portal and examples iterate the rows.
"""

from dataclasses import dataclass
from enum import StrEnum

_TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000


class BrokerForm(StrEnum):
    """What an address is on a broker."""

    QUEUE = "queue"
    TOPIC = "topic"
    QUEUE_OF_TOPIC = "queue of a topic"  # no address of its own
    ABSENT = "absent"  # routers deliver directly


@dataclass(frozen=True)
class Setting:
    """A numeric setting of an address, with its range. None in a row means the plan's value."""

    name: str
    smallest: int
    largest: int


SETTINGS = (
    Setting("message_ttl_ms", 1, _TEN_YEARS_MS),
    Setting("max_delivery_attempts", 1, 1_000_000),
    Setting("redelivery_delay_ms", 0, _TEN_YEARS_MS),
    Setting("max_bytes", 1, 2**53),
)
_NUMERIC = frozenset(setting.name for setting in SETTINGS)


@dataclass(frozen=True)
class AddressTypeRow:
    """One type.

    ``spaces``: the types of space that offer it. ``settings``: those that apply in every space;
    ``settings_brokered``: further ones in brokered spaces. ``is_jms_topic``: clients of JMS use a
    Topic, else a Queue. ``refusal``: what to do instead of a type that no space offers.
    """

    slug: str
    spaces: tuple[str, ...]
    broker_form: BrokerForm
    help_text: str
    is_jms_topic: bool = False
    settings: frozenset[str] = frozenset()
    settings_brokered: frozenset[str] = frozenset()
    is_read_only: bool = False
    refusal: str = ""

    @property
    def is_stored(self) -> bool:
        """Whether a broker stores its messages. Routers count the others themselves."""
        return self.broker_form is not BrokerForm.ABSENT


_BOTH = ("standard", "brokered")
REGISTRY = (
    AddressTypeRow(
        "queue",
        _BOTH,
        BrokerForm.QUEUE,
        "Kept until one receiver takes it.",
        settings=_NUMERIC,
        settings_brokered=frozenset({"dead_letter"}),
    ),
    AddressTypeRow(
        "topic",
        _BOTH,
        BrokerForm.TOPIC,
        "Every subscriber gets a copy.",
        is_jms_topic=True,
        settings=_NUMERIC,
        settings_brokered=frozenset({"dead_letter"}),
    ),
    AddressTypeRow(
        "subscription",
        _BOTH,
        BrokerForm.QUEUE_OF_TOPIC,
        "Keeps a topic's messages for a receiver that comes and goes.",
        is_jms_topic=True,
        settings=frozenset({"topic"}),
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


def offered_in(space_type: str) -> tuple[str, ...]:
    """Return the types that a space of this type offers, in the order of the registry."""
    return tuple(row.slug for row in REGISTRY if space_type in row.spaces)
