"""What metering remembers of sources and addresses, and the rows it makes of it: plain values.

Made and read by ``collector``; kept in the database by ``sources``; written by ``bronze``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

BUCKET = timedelta(minutes=15)
SPACE = "space"  # instance name and boot_id of the source that sums over instances


@dataclass(frozen=True)
class SampleRow:
    """One row of bronze without its batch. All counters cumulative; address '' is the source."""

    tenant_id: str
    space_id: str
    source: str
    boot_id: str
    seq: int
    taken_at: datetime
    bucket_at: datetime
    address: str = ""
    address_type: str = ""
    epoch: int = 0
    messages_in: int = 0
    messages_out: int = 0
    stored_byte_ms: int = 0
    connections_opened: int = 0
    connection_ms: int = 0
    peak_connections: int = 0

    @property
    def date(self) -> date:
        """The partition: the UTC date of the bucket."""
        return self.bucket_at.astimezone(UTC).date()


@dataclass(frozen=True)
class AddressState:
    """What is remembered of one address on one source.

    ``moved`` since it was last landed. While it is ``present`` each end of a bucket repeats it;
    when it is gone, ``fresh`` more ends do.
    ``queues_out`` is the last value of each subscription queue of a topic: queues come and go, so
    a topic's ``messages_out`` is the running sum of their growth. ``life`` is the broker's id for
    what is counted, empty where nobody gives one.
    """

    type: str
    epoch: int = 0
    messages_in: int = 0
    messages_out: int = 0
    stored_bytes: int = 0
    stored_byte_ms: int = 0
    moved: bool = False
    fresh: int = 0
    present: bool = True
    queues_out: Mapping[str, int] = field(default_factory=dict)
    life: str = ""


Retired = tuple[str, AddressState]  # an ended epoch of an address, by its name


@dataclass(frozen=True)
class Mark:
    """What a life had used in all when a bucket began: live usage is counted from here."""

    bucket_at: datetime
    messages_in: int
    messages_out: int


@dataclass(frozen=True)
class SourceState:
    """What is remembered of one life of one source. Key: (source, boot_id).

    ``used_in`` and ``used_out`` add up usage over all addresses and epochs of the life.
    ``unlanded``: sampled since anything was landed; ``unclosed``: since a whole snapshot was.
    ``retired`` are epochs that ended lately and are still repeated.
    """

    tenant_id: str
    space_id: str
    source: str
    boot_id: str
    seq: int = 0
    sampled_at: datetime | None = None
    bucket_at: datetime | None = None
    connections: int = 0
    connections_opened: int = 0
    connection_ms: int = 0
    peak_connections: int = 0
    used_in: int = 0
    used_out: int = 0
    unlanded: bool = False
    unclosed: bool = False
    ended: bool = False
    addresses: Mapping[str, AddressState] = field(default_factory=dict)
    retired: tuple[Retired, ...] = ()
    marks: tuple[Mark, ...] = ()


def floor_bucket(instant: datetime) -> datetime:
    """Return the start of the regular bucket that holds ``instant``, UTC."""
    whole = instant.astimezone(UTC)
    return whole.replace(minute=whole.minute // 15 * 15, second=0, microsecond=0)
