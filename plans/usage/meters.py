"""Declares the registry of meters, and the names of the price models.

A new meter is one row of ``REGISTRY``. Plans, portal, API, command and invoices iterate it. A meter
that is sampled also needs a column in ``lakehouse/bronze_schema.json`` and a field in
``workers/messaging/observed.py``, which the code that reads brokers or routers must fill.
"""

from dataclasses import dataclass
from enum import StrEnum

_HOUR_MS = 3_600_000
_GIB = 2**30  # bytes


class Kind(StrEnum):
    """Where the quantity of a meter comes from, and how the usage of a period is computed."""

    COUNTER = "counter"  # sampled; a period's usage is the sum of its buckets
    PEAK = "peak"  # sampled; a period's usage is the largest bucket, never a sum
    SUM = "sum"  # the sum of other meters, ``parts``; plans may price or limit it
    LIFETIME = "lifetime"  # computed from rows of the control plane: hours of spaces, addresses


class Scope(StrEnum):
    """What one sampled value of a meter belongs to."""

    ADDRESS = "address"
    SOURCE = "source"  # a whole broker or router, or (the peak) the whole space


@dataclass(frozen=True)
class Meter:
    """One row of the registry: what is counted, and how people read its quantities.

    * ``slug``: the name in plans, tables, documents and the API. Never rename it.
    * ``explanation``: a sentence for tenants on the portal's pages; empty if no page needs it.
    * ``base_per_unit``: how many stored base units make one ``unit`` that people read. Base units
      are messages, connections, milliseconds, bytes, bytes times milliseconds, and steps of 64 KiB;
      of lifetimes hours.
    * ``line_title``: the description of invoice lines. It is part of invoice documents: changing it
      changes the bytes that a verification recomputes, so raise ``facts.ENGINE_VERSION`` too.
    * ``plan_text``: what follows a quantity of the meter in the portal's description of a plan.
    * ``scope``: only sampled meters have one.
    * ``parts``: the meters that a meter of kind SUM adds up.
    * ``is_optional``: pages show it only to tenants whose plan includes, prices or limits it.
    """

    slug: str
    kind: Kind
    title: str
    unit: str
    plan_text: str
    scope: Scope | None = None
    line_title: str = ""
    base_per_unit: int = 1
    explanation: str = ""
    parts: tuple[str, ...] = ()
    is_optional: bool = False

    @property
    def is_sampled(self) -> bool:
        return self.kind in (Kind.COUNTER, Kind.PEAK)


MESSAGES_IN = "messages_in"
MESSAGES_OUT = "messages_out"
CONNECTIONS_OPENED = "connections_opened"
CONNECTION_MS = "connection_ms"
PEAK_CONNECTIONS = "peak_connections"
STORED_BYTE_MS = "stored_byte_ms"
BYTES_IN = "bytes_in"
BYTES_OUT = "bytes_out"
STEPS_64K_IN = "steps_64k_in"
STEPS_64K_OUT = "steps_64k_out"
SPACE_HOURS = "space_hours"
ADDRESS_HOURS = "address_hours"

REGISTRY = (
    Meter(
        MESSAGES_IN,
        Kind.COUNTER,
        title="Messages in",
        unit="messages",
        plan_text="messages in",
        scope=Scope.ADDRESS,
        line_title="Messages in",
        explanation="Accepted from your senders.",
    ),
    Meter(
        MESSAGES_OUT,
        Kind.COUNTER,
        title="Messages out",
        unit="messages",
        plan_text="messages out",
        scope=Scope.ADDRESS,
        line_title="Messages out",
        explanation="Delivered to your receivers.",
    ),
    Meter(
        CONNECTIONS_OPENED,
        Kind.COUNTER,
        title="Connections opened",
        unit="connections",
        plan_text="connections opened",
        scope=Scope.SOURCE,
        line_title="Connections opened",
        explanation="How often a client connected.",
    ),
    Meter(
        CONNECTION_MS,
        Kind.COUNTER,
        title="Connection time",
        unit="connection-hours",
        plan_text="connection hours",
        scope=Scope.SOURCE,
        line_title="Connection time",
        base_per_unit=_HOUR_MS,
        explanation="How long clients were connected, added up.",
    ),
    Meter(
        STORED_BYTE_MS,
        Kind.COUNTER,
        title="Storage",
        unit="GiB-hours",
        plan_text="GiB-hours of storage",
        scope=Scope.ADDRESS,
        line_title="Stored messages",
        base_per_unit=_GIB * _HOUR_MS,
        explanation="What your queues held, over time.",
    ),
    Meter(
        PEAK_CONNECTIONS,
        Kind.PEAK,
        title="Peak connections",
        unit="connections",
        plan_text="connections at the peak",
        scope=Scope.SOURCE,
        line_title="Peak connections",
        explanation="The most connections open at once.",
    ),
    Meter(
        BYTES_IN,
        Kind.COUNTER,
        title="Bytes in",
        unit="GiB",
        plan_text="GiB in",
        scope=Scope.ADDRESS,
        line_title="Bytes in",
        base_per_unit=_GIB,
        explanation="The size of what your senders sent.",
        is_optional=True,
    ),
    Meter(
        BYTES_OUT,
        Kind.COUNTER,
        title="Bytes out",
        unit="GiB",
        plan_text="GiB out",
        scope=Scope.ADDRESS,
        line_title="Bytes out",
        base_per_unit=_GIB,
        explanation="The size of what your receivers took.",
        is_optional=True,
    ),
    Meter(
        STEPS_64K_IN,
        Kind.COUNTER,
        title="Steps of 64 KiB in",
        unit="steps",
        plan_text="messages in, in steps of 64 KiB",
        scope=Scope.ADDRESS,
        line_title="Messages in, in steps of 64 KiB",
        explanation="A message from your senders counts once for each 64 KiB that it begins.",
        is_optional=True,
    ),
    Meter(
        STEPS_64K_OUT,
        Kind.COUNTER,
        title="Steps of 64 KiB out",
        unit="steps",
        plan_text="messages out, in steps of 64 KiB",
        scope=Scope.ADDRESS,
        line_title="Messages out, in steps of 64 KiB",
        explanation="A message to your receivers counts once for each 64 KiB that it begins.",
        is_optional=True,
    ),
    Meter(
        "messages",
        Kind.SUM,
        title="Messages",
        unit="messages",
        plan_text="messages",
        line_title="Messages, in and out",
        parts=(MESSAGES_IN, MESSAGES_OUT),
    ),
    Meter(
        "bytes",
        Kind.SUM,
        title="Bytes",
        unit="GiB",
        plan_text="GiB",
        line_title="Bytes, in and out",
        base_per_unit=_GIB,
        parts=(BYTES_IN, BYTES_OUT),
        is_optional=True,
    ),
    Meter(
        "steps_64k",
        Kind.SUM,
        title="Steps of 64 KiB",
        unit="steps",
        plan_text="messages in steps of 64 KiB",
        line_title="Messages, in and out, in steps of 64 KiB",
        parts=(STEPS_64K_IN, STEPS_64K_OUT),
        is_optional=True,
    ),
    Meter(SPACE_HOURS, Kind.LIFETIME, title="Spaces", unit="hours", plan_text="hours of spaces"),
    Meter(
        ADDRESS_HOURS,
        Kind.LIFETIME,
        title="Addresses",
        unit="hours",
        plan_text="hours of addresses",
    ),
)
BY_SLUG = {meter.slug: meter for meter in REGISTRY}
for _meter in REGISTRY:
    if _meter.is_sampled is (_meter.scope is None):
        raise RuntimeError(f"only sampled meters have a scope, and each has one: {_meter.slug}")

SUMMED = tuple(meter.slug for meter in REGISTRY if meter.kind is Kind.COUNTER)
METERS = tuple(meter.slug for meter in REGISTRY if meter.is_sampled)
DERIVED = {meter.slug: meter.parts for meter in REGISTRY if meter.kind is Kind.SUM}
LIFETIMES = tuple(meter.slug for meter in REGISTRY if meter.kind is Kind.LIFETIME)


class Model(StrEnum):
    """A price model: how a quantity beyond the included amount is priced."""

    FLAT = "flat"  # the first tier's price once per month, for any quantity above zero
    UNIT = "unit"  # each unit at one price
    GRADUATED = "graduated"  # each unit at the price of its tier
    VOLUME = "volume"  # all units at the price of the tier that contains the total
    PACKAGE = "package"  # whole packages of ``base_per_unit`` base units, rounded up
