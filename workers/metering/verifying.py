"""Verify an invoice: read its pinned table versions again, and compare its figures with them.

``comparisons.REGISTRY`` lists all comparisons, from the files of bronze to the ledger.

The task ``workers.verify_invoice`` runs ``verify``, which finishes the operations that
``invoice_verification.request_verify`` began. Any error but a database error ends the operation
as failed, so that no verification is tried for ever.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError, transaction

from controlplane.core import leases, operations
from controlplane.core.errors import Conflict, Unavailable, WaypostError
from plans.invoicing import corrections, invoice_verification
from plans.invoicing.evidence import EarlierUsage, SampleSet, UsageKey
from plans.invoicing.findings import DIFFERS, CopyReading, FileCheck, Finding, LakeReading, Place
from plans.invoicing.invoice_verification import Verification
from plans.models import Invoice, UsageCopy
from plans.rating.periods import Period
from plans.usage import reading
from plans.usage.reading import Figure, UsageCell
from workers.metering import closing, delta, file_hashes, gold, ingest, recompute, sample_hash
from workers.metering.pipeline import Table
from workers.metering.roots import Root

logger = structlog.get_logger(__name__)

UNREADABLE = "lakehouse.unreadable"
_SUBJECT = invoice_verification.SUBJECT_TYPE
_FILES = invoice_verification.FILES_SUBJECT_TYPE
_LEASE_SECONDS = 60
_ATTEMPTS = 3
_T = TypeVar("_T")
_ATTEMPT = "attempt"  # the name of the step that counts the attempts


def verify(invoice_id: str) -> None:
    """Verify the invoice and finish the running operations of its verification.

    An operation succeeds if every place is the same, and fails with the differences otherwise. Its
    steps name each place of ``comparisons.REGISTRY``. It also fails with the error that prevented a
    comparison, and after ``_ATTEMPTS`` attempts that a kill ended: an altered file may crash its
    reader. Nothing happens if another process verifies the invoice.

    Raises:
        DatabaseError: the answer cannot be stored; the periodic task tries again.
    """
    with leases.kept(f"verify:{invoice_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        running = invoice_verification.running_requests().filter(subject_id=invoice_id)
        # With files first: if an altered file crashes the other one, this answer is there already.
        for subject in sorted({row.subject_type for row in running}) if won else ():
            if _begin(subject, invoice_id):
                _answer(subject, invoice_id)


def _begin(subject: str, invoice_id: str) -> bool:
    """Count one more attempt in the operation; end it and return False if there were too many."""
    running = invoice_verification.running_requests()
    row = running.filter(subject_type=subject, subject_id=invoice_id).first()
    counted = [step for step in (row.steps or [] if row else []) if step["name"] == _ATTEMPT]
    n = int(counted[0]["message"]) + 1 if counted else 1
    if n > _ATTEMPTS:
        message = (
            f"The process that verifies this invoice was ended {_ATTEMPTS} times: a file of the "
            "lakehouse may crash its reader. Verify with files to find it."
        )
        operations.fail(subject, invoice_id, code="invoice.verify_crashed", message=message)
        return False
    step = {"name": _ATTEMPT, "state": "running", "message": str(n)}
    operations.progress(subject, invoice_id, [step])
    return True


def _answer(subject: str, invoice_id: str) -> None:
    invoice = Invoice.objects.get(pk=invoice_id)
    try:
        with _panics_are_errors():
            found = recomputed(invoice, ingest.lakehouse_root(), files=subject == _FILES)
    except WaypostError as error:
        operations.fail(subject, invoice_id, code=error.error_code, message=error.message)
        return
    except DatabaseError:
        raise
    except Exception as error:  # any other one would be tried for ever
        logger.exception("an invoice cannot be verified", invoice=invoice_id)
        message = f"It cannot be verified ({type(error).__name__}); the worker's log has the reason"
        operations.fail(subject, invoice_id, code="invoice.verify_failed", message=message)
        return
    operations.progress(subject, invoice_id, found.steps())
    if found.same:
        operations.succeed(subject, invoice_id, up_to_generation=1)
        return
    named = "; ".join(str(finding) for finding in found.findings[:20])
    failed = "reproduced" if found.code == DIFFERS else "compared"
    message = f"The invoice cannot be {failed}: {named}"
    operations.fail(subject, invoice_id, code=found.code, message=message)


def recomputed(invoice: Invoice, root: Root, *, files: bool = False) -> Verification:
    """Read the pinned tables, make the invoice again, and return how each place compares.

    ``files``: compare whole files of bronze with their recorded hashes first.

    Raises:
        NothingToVerify: the invoice has no document.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    invoice_verification.require_document(invoice)
    lake = _Lake(invoice, root).read(files=files)
    return invoice_verification.verify(invoice=invoice, cells=lake.cells, lake=lake)


@dataclass
class _Lake:
    """Reads what a verification of ``invoice`` needs of the lakehouse at ``root``."""

    invoice: Invoice
    root: Root
    unreadable: list[Finding] = field(default_factory=list)

    @property
    def period(self) -> Period:
        return Period(self.invoice.starts_at, self.invoice.ends_at)

    def pin(self, name: str) -> Table:
        pinned: dict[str, Any] = self.invoice.manifest["tables"][name]
        return Table(pinned["id"], pinned["version"])

    def read(self, *, files: bool) -> LakeReading:
        checked = self._try(Place.FILES, self._files) if files else None
        if checked and (checked.altered or checked.missing):
            # An altered file may crash its reader, and what it says proves nothing.
            return LakeReading(files=checked, unreadable=tuple(self.unreadable))
        cells = self._try(Place.GOLD, self._cells)
        if files and cells is not None:
            self._try(Place.GOLD, lambda: self._read_twice(cells))
        return LakeReading(
            files=checked,
            cells=cells,
            samples=self._try(Place.SAMPLES, self._samples),
            spans=self._try(Place.SAMPLES, self._spans),
            copy=self._try(Place.COPY, self._copy),
            unreadable=tuple(dict.fromkeys(self.unreadable)),
        )

    def _try(self, place: Place, read: Callable[[], _T]) -> _T | None:
        """Return what ``read`` returns; None, and a finding at ``place``, if it is unreadable."""
        try:
            with _panics_are_errors():
                return read()
        except Unavailable:  # the object store is away, which says nothing about the invoice
            raise
        except WaypostError as error:
            self.unreadable.append(Finding(place, error.error_code, error.message))
        except DatabaseError:
            raise
        except Exception as error:  # the readers' errors share no class
            logger.warning("the lakehouse cannot be read", place=place.value, exc_info=error)
            what = "a file of it cannot be read: verify with files to find altered ones"
            self.unreadable.append(Finding(place, UNREADABLE, what))
        return None

    def _files(self) -> FileCheck:
        pin = self.pin(delta.BRONZE)
        table = delta.open_table(self.root, delta.BRONZE, version=pin.version, table_id=pin.id)
        until = self.period.ends_at.astimezone(UTC).date() + timedelta(days=1)
        return file_hashes.check(self.root, table, until)

    def _cells(self) -> list[UsageCell]:
        # An invoice may correct earlier months, and then needs their usage too.
        since = corrections.usage_since(self.invoice)
        pin, tenant_id = self.pin(delta.USAGE), self.invoice.tenant_id
        return gold.cells(self.root, pin, tenant_id, since, self.period.ends_at)

    def _read_twice(self, cells: list[UsageCell]) -> None:
        """Read gold with another reader, too: its files, which Spark writes, have no hashes.

        Raises:
            ReadersDisagree: it reads other cells.
        """
        since, pin = corrections.usage_since(self.invoice), self.pin(delta.USAGE)
        again = gold.cells_by_arrow(
            self.root, pin, self.invoice.tenant_id, since, self.period.ends_at
        )
        if Counter(again) != Counter(cells):
            raise ReadersDisagree("Two readers of gold read different values: a file is altered.")

    def _samples(self) -> SampleSet:
        pin, tenant_id = self.pin(delta.BRONZE), self.invoice.tenant_id
        question = recompute.question(self.root, pin, tenant_id, self.period)
        version = self.invoice.manifest.get("sample_hash_version", sample_hash.IDS)
        return recompute.samples(question, version)

    def _spans(self) -> tuple[EarlierUsage, ...]:
        months = [
            corrections.span_of(row.month, self.period)
            for row in corrections.pinned(self.invoice.manifest, self.invoice.currency)
        ]
        pins = (self.pin(delta.BRONZE), self.pin(delta.USAGE))
        return tuple(
            closing.read_span(self.root, pins, self.invoice.tenant_id, span)
            for span in (*months, self.period)
        )

    def _copy(self) -> CopyReading:
        tenant_id, ends_at = self.invoice.tenant_id, self.period.ends_at
        since = corrections.usage_since(self.invoice)
        with transaction.atomic():
            reading.keep_still()
            newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
            cells = list(reading.cells(tenant_id, since, ends_at))
            by_address = reading.by_address(tenant_id, self.period.starts_at, ends_at)
            by_space = reading.by_space(tenant_id, self.period.starts_at, ends_at)
        # The copy is of a later version than the pinned one if the period got late usage.
        pin = Table(newest.table_id, newest.table_version) if newest else self.pin(delta.USAGE)
        of_gold = gold.cells(self.root, pin, tenant_id, since, ends_at)
        return CopyReading(cells, of_gold, _by_key(by_address), _by_key(by_space))


def _by_key(figures: list[Figure]) -> dict[UsageKey, int]:
    return {UsageKey(f.space_id, f.address, f.meter): f.quantity for f in figures}


class ReadersDisagree(Conflict):
    """Two readers of a file read different values."""

    code = "lakehouse.readers_disagree"


class _ReaderPanicked(Exception):
    """The Rust code of delta-rs panicked, as altered files can make it."""


@contextmanager
def _panics_are_errors() -> Iterator[None]:
    """Raise ``_ReaderPanicked`` in place of a panic of Rust code, which is no ``Exception``."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _ReaderPanicked(str(error)) from error
