"""Recomputes an invoice from its pinned inputs and compares the bytes.

``request_verify`` runs in the caller's request (API, portal). The Celery task
``workers.verify_invoice`` then reads the usage at the table versions in the manifest and calls
``verify``. If this task gets lost, a periodic task finds the request with ``waiting``. ``verify``
reads all other inputs: from the manifest and the document, the ledger, and rows whose content for
the period is fixed (plan versions, subscriptions).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from plans.invoicing import billing_inputs, corrections, document, facts, rated_period, states
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.document import Document
from plans.ledger import credit, posting
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage.reading import UsageCell

SUBJECT_TYPE = "invoice_verification"
_SHOWN = 20  # differences in one result


@dataclass(frozen=True)
class Verification:
    """The result of ``verify``: ``same`` is true if no difference was found.

    ``differences`` are texts for people, at most ``_SHOWN``. ``recomputed_sha256`` is empty if
    another engine version made the invoice.
    """

    same: bool
    stored_sha256: str
    recomputed_sha256: str
    differences: tuple[str, ...]


class NothingToVerify(Conflict):
    """The invoice has no document yet."""

    code = "invoice.no_document"


def require_document(invoice: Invoice) -> None:
    """Raise if the invoice has no document, which a verification would compare.

    Raises:
        NothingToVerify: the invoice has no document yet.
    """
    if not invoice.document:
        raise NothingToVerify("This invoice has no document yet: its period is not closed.")


def request_verify(*, invoice: Invoice, by: Actor) -> Operation:
    """Return the running operation that verifies ``invoice``; start one if there is none.

    Starting one enqueues the Celery task that verifies. The operation succeeds if there is no
    difference, and fails with the differences otherwise.

    Raises:
        NothingToVerify: the invoice has no document yet.
    """
    with transaction.atomic():
        # The invoice's lock makes two requests at once share one operation.
        current = states.locked(invoice)
        require_document(current)
        running = running_requests().filter(subject_id=current.pk).first()
        if running is not None:
            return running
        subject = states.subject_of(current)
        audit.record(by, "invoice.verify", subject)
        enqueue.after_commit("workers.verify_invoice", invoice_id=current.pk)
        return operations.begin(
            tenant_id=current.tenant_id,
            kind="invoice.verify",
            subject=(SUBJECT_TYPE, current.pk, subject.name),
            generation=1,
        )


def waiting() -> list[str]:
    """Return the ids of the invoices whose verification runs or waits, the oldest request first."""
    return list(running_requests().order_by("created_at").values_list("subject_id", flat=True))


def running_requests() -> QuerySet[Operation]:
    """Return the operations of all verifications that are requested but not finished."""
    return Operation.objects.filter(subject_type=SUBJECT_TYPE, state=Operation.State.RUNNING)


def verify(
    *, invoice: Invoice, cells: Iterable[UsageCell], sample_hash: str | None = None
) -> Verification:
    """Build the invoice's document again and compare it with the stored one. Writes nothing.

    ``cells`` is the tenant's usage at the pinned table versions, from ``corrections.usage_since``
    to the end of the period, in any order. ``sample_hash`` is the hash of the sample ids in bronze
    now; if it is given, it must equal the one in the manifest. The state after the month's previous
    invoice must equal the one in the manifest, too, unless that invoice is being closed again. An
    invoice of another engine version is not recomputed: the engine version is then the only
    difference.

    Raises:
        NothingToVerify: the invoice has no document.
    """
    require_document(invoice)
    stored = document.loaded(invoice.document)
    engine = stored["manifest"]["engine_version"]
    if engine != document.ENGINE_VERSION:
        # Another engine may give other bytes for equal inputs, so a comparison would prove nothing.
        difference = (
            f"manifest.engine_version: made by engine {engine}, but this is engine "
            f"{document.ENGINE_VERSION}: verify with the Waypost version that made it"
        )
        return Verification(False, document.digest(invoice.document), "", (difference,))
    again = recomputed(invoice, stored, cells)
    text = document.canonical(again)
    differences = list(_differences("", stored, again))
    if sample_hash is not None and sample_hash != stored["manifest"]["sample_hash"]:
        differences.append("manifest.sample_hash: the samples of the period are not the same")
    period = Period(invoice.starts_at, invoice.ends_at)
    before = corrections.previous_invoice(invoice.tenant_id, period, document.month_of(stored))
    left = corrections.month_after(before)
    # None: the previous invoice is being closed again, so there is nothing to compare yet.
    if left is not None and left.plain() != stored["manifest"]["month_before"]:
        differences.append("manifest.month_before: the previous invoice has another state now")
    # Equal values in different bytes, such as reordered keys: only an edit of the row does this.
    if text != invoice.document and not differences:
        differences.append("the stored text is not the canonical form of its content")
    return Verification(
        not differences,
        document.digest(invoice.document),
        document.digest(text),
        tuple(differences[:_SHOWN]),
    )


def recomputed(invoice: Invoice, stored: Document, cells: Iterable[UsageCell]) -> Document:
    """Return the document that this engine makes from the pinned inputs and ``cells``.

    ``stored`` is the stored document of ``invoice``.
    """
    manifest = stored["manifest"]
    frozen = facts.Frozen(
        stored["buyer"],
        manifest["catalogue_number"],
        stored["period"]["time_zone"],
        KnownLifetimes.from_plain(manifest["lived"]),
        billing_inputs.month_so_far(manifest["month_before"]),
        corrections.pinned(manifest),
    )
    period = Period(invoice.starts_at, invoice.ends_at)
    found = facts.gather(invoice.tenant, period, frozen=frozen)
    rated = rated_period.rate(found, rated_period.from_cells(cells, invoice.tenant_id))
    made = document.build(
        found,
        rated,
        manifest=invoice.manifest,
        quality=invoice.quality,
        as_of=datetime.fromisoformat(stored["as_of"]),
    )
    made["usage"] = listed_usage(made["usage"], stored["usage"])
    # An issued document also has number, dates and credit.
    if invoice.number and invoice.issued_at and invoice.due_at:
        # The credit as it was before this invoice was booked, not as it is now.
        before = credit.before(
            invoice.tenant_id,
            invoice.legal_entity,
            invoice.currency,
            entry=posting.entry_of(invoice.pk),
        )
        issue = document.Issue(invoice.number, invoice.issued_at, invoice.due_at, before)
        return document.numbered(made, issue)
    return made


def listed_usage(made: Sequence[Document], stored: Sequence[Document]) -> Sequence[Document]:
    """Return the usage statement ``made`` without unused meters that ``stored`` does not list.

    A statement lists every meter that existed when it was made. So a meter that was added to the
    registry later makes no difference to older invoices.
    """
    listed = {meter for space in stored for meter in space["meters"]}
    return [
        {
            **space,
            "meters": {
                meter: quantity
                for meter, quantity in space["meters"].items()
                if quantity or meter in listed
            },
        }
        for space in made
    ]


def _differences(path: str, stored: Any, again: Any) -> Iterator[str]:
    """Yield each difference of two documents as text: ``lines.2.amount_minor: 1200, now 1201``."""
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in sorted({*stored, *again}):
            yield from _differences(f"{path}{key}.", stored.get(key), again.get(key))
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for number, (one, other) in enumerate(zip(stored, again, strict=True), start=1):
            yield from _differences(f"{path}{number}.", one, other)
    elif stored != again:
        yield f"{path.rstrip('.')}: {_short(stored)}, now {_short(again)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
