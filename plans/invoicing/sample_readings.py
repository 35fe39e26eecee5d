"""Requests that a worker reads the samples behind an invoice, and stores what it has read.

``request`` runs in the caller's request (API, portal). The Celery task ``workers.read_samples``
then reads the tables at the versions that the invoice pins and calls ``store``. If this task gets
lost, a periodic task finds the reading with ``waiting``. What was read is deleted after a day, and
can be requested again: the pinned versions do not change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from controlplane.core.models import Operation
from plans.invoicing import states
from plans.models import Invoice, ReadRow, SampleReading
from plans.rating.periods import Period

SUBJECT_TYPE = "sample_reading"
KIND = "invoice.read_samples"
MOST_ROWS = 5_000  # samples, and counters, that one reading keeps
_MOST_RUNNING = 3  # readings of one tenant
_MOST_KEPT = 20  # finished readings of one tenant
_KEPT_FOR = timedelta(days=1)
_WORDS = range(0, 64, 8)  # where the eight words begin in a hash of 64 hex digits


class NothingPinned(Conflict):
    """The invoice has no document yet, so it pins no samples."""

    code = "invoice.no_document"


class TooManyReadings(Conflict):
    """The tenant has as many running readings as are allowed."""

    code = "invoice.too_many_readings"


@dataclass(frozen=True)
class Hour:
    """The evidence of one hour: samples, the hash of their values, and gold usage by meter.

    ``starts_at`` is the full hour in the invoice's time zone; at the ends of a reading, only a part
    of the hour may belong to it. ``used`` is in base units, of a peak the largest value.
    """

    starts_at: datetime
    n_samples: int
    sample_hash: str
    used: Mapping[str, int]

    def plain(self) -> dict[str, Any]:
        """Return JSON values, from which ``from_plain`` makes the hour again."""
        return {
            "starts_at": self.starts_at.isoformat(),
            "n_samples": self.n_samples,
            "sample_hash": self.sample_hash,
            "used": dict(self.used),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Hour":
        return cls(**{**plain, "starts_at": datetime.fromisoformat(plain["starts_at"])})


@dataclass(frozen=True)
class Read:
    """What a worker has read for a reading.

    ``samples`` and ``counters`` are at most ``MOST_ROWS`` of each, the samples from ``first`` on.
    """

    n_samples: int
    sample_hash: str
    n_counters: int
    from_samples: Mapping[str, int]
    hours: Sequence[Hour]
    samples: Sequence[Mapping[str, Any]]
    counters: Sequence[Mapping[str, Any]]


def added(hashes: Iterable[str]) -> str:
    """Return the hash of all samples from the hashes of parts that have no sample in common.

    Each of the eight words of 32 bits is added up modulo 2^32 (docs/lakehouse.md, "Proof").
    """
    words = [0] * len(_WORDS)
    for found in hashes:
        for n, begin in enumerate(_WORDS):
            words[n] += int(found[begin : begin + 8], 16)
    return "".join(f"{word % 2**32:08x}" for word in words)


def pinned_version(invoice: Invoice) -> int:
    """Return the version of the samples' table that the invoice pins.

    Raises:
        NothingPinned: the invoice has no document yet.
    """
    pin = invoice.manifest.get("tables", {}).get("bronze.samples")
    if not invoice.document or pin is None:
        raise NothingPinned("This invoice has no document yet: its period is not closed.")
    return int(pin["version"])


def request(*, invoice: Invoice, part: Period | None, first: int = 0, by: Actor) -> Operation:
    """Return the operation that reads a part of the invoice's period; start one if there is none.

    ``part`` None: the whole period. ``first``: the number of the first sample to keep, from 0. A
    part that was read already is not read again; its operation has succeeded. The subject of the
    operation is the reading.

    Raises:
        NothingPinned: the invoice has no document yet.
        Invalid: the part is not inside the invoice's period.
        TooManyReadings: the tenant has too many running ones.
    """
    with transaction.atomic():
        # The invoice's lock makes two requests at once share one reading.
        current = states.locked(invoice)
        key = _key(current, part, first)
        if found := SampleReading.objects.filter(**key).first():
            operation = operation_of(found)
            if operation and operation.state != Operation.State.FAILED:
                return operation
            found.delete()  # its task failed: a new reading has a new operation
        _make_place(current.tenant_id)
        reading = SampleReading.objects.create(**key)
        subject = states.subject_of(current)
        span = Period(reading.starts_at, reading.ends_at)
        audit.record(by, KIND, subject, after={"period": str(span), "first": first})
        enqueue.after_commit("workers.read_samples", reading_id=reading.pk)
        return operations.begin(
            tenant_id=current.tenant_id,
            kind=KIND,
            subject=(SUBJECT_TYPE, reading.pk, subject.name),
            generation=1,
            by=by,
        )


def operation_of(reading: SampleReading) -> Operation | None:
    """Return the operation that reads ``reading``."""
    rows = Operation.objects.filter(subject_type=SUBJECT_TYPE, subject_id=reading.pk)
    return rows.order_by("-created_at").first()


def find(invoice: Invoice, part: Period | None, first: int = 0) -> SampleReading | None:
    """Return the reading of a part of the invoice's period, finished or not; None: there is none.

    Raises:
        NothingPinned, Invalid: as ``request`` does.
    """
    return SampleReading.objects.filter(**_key(invoice, part, first)).first()


def get(invoice: Invoice, reading_id: str) -> SampleReading:
    """Return the invoice's reading with this id.

    Raises:
        Missing: there is none, or it was deleted after a day.
    """
    found = SampleReading.objects.filter(invoice=invoice, pk=reading_id).first()
    if found is None:
        raise Missing("There is no such reading any more: request it again.")
    return found


def waiting() -> list[str]:
    """Return the ids of the readings that no worker has finished, the oldest first."""
    running = Operation.objects.filter(
        subject_type=SUBJECT_TYPE, state=Operation.State.RUNNING
    ).order_by("created_at")
    return list(running.values_list("subject_id", flat=True))


def store(reading: SampleReading, found: Read, now: datetime) -> None:
    """Store what was read and end the operation as succeeded, in one transaction. Idempotent."""
    kinds = ((ReadRow.Kind.SAMPLE, reading.first, found.samples),
             (ReadRow.Kind.COUNTER, 0, found.counters))  # fmt: skip
    with transaction.atomic():
        # Rows of an earlier run of the task, so that no row is stored twice.
        reading.rows.all().delete()
        ReadRow.objects.bulk_create(
            (
                ReadRow(reading=reading, kind=kind, position=position, values=row)
                for kind, first, rows in kinds
                for position, row in enumerate(rows, start=first)
            ),
            batch_size=1000,
        )
        reading.n_samples, reading.sample_hash = found.n_samples, found.sample_hash
        reading.n_counters, reading.from_samples = found.n_counters, dict(found.from_samples)
        reading.hours = [hour.plain() for hour in found.hours]
        reading.finished_at = now
        reading.save()
        operations.succeed(SUBJECT_TYPE, reading.pk, up_to_generation=1)


def delete_old(now: datetime) -> int:
    """Delete the readings of more than a day ago that do not run; return how many. Idempotent."""
    running = waiting()
    rows = SampleReading.objects.filter(updated_at__lt=now - _KEPT_FOR).exclude(pk__in=running)
    n_deleted = rows.count()
    rows.delete()
    return n_deleted


def _key(invoice: Invoice, part: Period | None, first: int) -> dict[str, Any]:
    whole = Period(invoice.starts_at, invoice.ends_at)
    version = pinned_version(invoice)
    wanted = part or whole
    if whole.clip(wanted.starts_at, wanted.ends_at) != wanted:
        raise Invalid(
            f"The part {wanted} is not inside the invoice's period, {whole}: name a part of it.",
            code="invoice.not_in_period",
        )
    return {
        "invoice": invoice,
        "starts_at": wanted.starts_at,
        "ends_at": wanted.ends_at,
        "first": first,
        "bronze_version": version,
    }


def _make_place(tenant_id: str) -> None:
    """Delete the tenant's oldest finished readings beyond ``_MOST_KEPT``.

    Raises:
        TooManyReadings: too many are running.
    """
    running = Operation.objects.filter(
        tenant_id=tenant_id, subject_type=SUBJECT_TYPE, state=Operation.State.RUNNING
    )
    if running.count() >= _MOST_RUNNING:
        raise TooManyReadings(
            f"{_MOST_RUNNING} parts of your invoices are being read already: wait until one is "
            "done, then try again."
        )
    finished = SampleReading.objects.filter(
        invoice__tenant_id=tenant_id, finished_at__isnull=False
    ).order_by("-finished_at")
    # One fewer, because the caller adds a reading.
    for reading in finished[_MOST_KEPT - 1 :]:
        reading.delete()
