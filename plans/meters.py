"""What is counted and the ways to price it: names only, for everything about usage and prices.

Base units: messages, connections, milliseconds (``connection_ms``), byte-milliseconds
(``stored_byte_ms``); lifetimes are hours in plans and whole seconds in pricing.
"""

from enum import StrEnum

MESSAGES_IN = "messages_in"
MESSAGES_OUT = "messages_out"
CONNECTIONS_OPENED = "connections_opened"
CONNECTION_MS = "connection_ms"
PEAK_CONNECTIONS = "peak_connections"
STORED_BYTE_MS = "stored_byte_ms"

SUMMED = (MESSAGES_IN, MESSAGES_OUT, CONNECTIONS_OPENED, CONNECTION_MS, STORED_BYTE_MS)
METERS = (*SUMMED, PEAK_CONNECTIONS)

# Meters that plans may price or limit and that are sums of others.
DERIVED = {"messages": (MESSAGES_IN, MESSAGES_OUT)}

# Counted from rows of the control plane, not from samples.
SPACE_HOURS = "space_hours"
ADDRESS_HOURS = "address_hours"
LIFETIMES = (SPACE_HOURS, ADDRESS_HOURS)


class Model(StrEnum):
    """How a quantity beyond the included amount becomes money."""

    FLAT = "flat"  # the first tier's price once, however much was used
    UNIT = "unit"  # each unit at one price
    GRADUATED = "graduated"  # each unit at the price of the tier it falls into
    VOLUME = "volume"  # all units at the price of the tier the total falls into
    PACKAGE = "package"  # whole packages of ``base_per_unit``; a begun one counts
