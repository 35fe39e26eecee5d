"""Exports the ledger as journal lines, which an accounting system imports a part at a time.

The cursor is the id of a posting: ``lines`` returns what was booked after it, in the order of ids,
and no later call returns a line below an id that was returned before.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from django.db import OperationalError, connection, transaction
from django.db.models import Q

from controlplane.core.errors import Conflict, Invalid, Unavailable
from plans.exports import account_codes
from plans.exports.tables import Column, Row, Type
from plans.models import (
    CreditGrant,
    CreditNote,
    Invoice,
    LedgerEntry,
    LedgerPosting,
    Payment,
    Refund,
)
from plans.rating import money
from plans.rating.periods import zone

MOST_LINES = 10_000  # of one call
COLUMNS = (
    Column("posting_id", Type.INTEGER),
    Column("entry_id", Type.INTEGER),
    Column("date", Type.CODE),
    Column("document_number", Type.TEXT),
    Column("legal_entity", Type.CODE),
    Column("tenant_id", Type.CODE),
    Column("tenant", Type.TEXT),
    Column("account_code", Type.CODE),
    Column("account", Type.CODE),
    Column("text", Type.TEXT),
    Column("debit", Type.DECIMAL),
    Column("credit", Type.DECIMAL),
    Column("currency", Type.CODE),
    Column("reference", Type.TEXT),
    # Last: a column that came later must not move the others in files that a system imports.
    Column("document_date", Type.CODE),
)


class NotBalanced(Conflict):
    """Debits and credits of an entry differ. The database prevents it, so rows were altered."""

    code = "ledger.not_balanced"


@dataclass(frozen=True)
class JournalLine:
    """One posting: exactly one of ``debit_minor`` and ``credit_minor`` is above zero.

    ``day`` is the UTC day of booking. ``document_number`` is the number of the invoice or credit
    note, of the invoice that was paid, refunded or written off, or the reference of the granted
    credit or of the transfer that paid it back; empty if no document is known. ``document_day`` is
    the day that the invoice or credit note bears, in the time zone of its document, or the day on
    which a payment was received. Of everything else it is ``day``.
    """

    posting_id: int
    entry_id: int
    day: date
    document_number: str
    legal_entity: str
    tenant_id: str
    tenant: str
    account_code: str
    account: str
    text: str
    debit_minor: int
    credit_minor: int
    currency: str
    reference: str
    document_day: date

    def row(self) -> Row:
        """Return the line as a row of ``COLUMNS``; amounts are in the main unit."""
        amounts = {"debit": self.debit_minor, "credit": self.credit_minor}
        return {
            **{column.name: getattr(self, column.name) for column in COLUMNS
               if column.name not in ("date", "document_date", *amounts)},
            "date": self.day.isoformat(),
            "document_date": self.document_day.isoformat(),
            **{name: money.to_major(minor, self.currency) for name, minor in amounts.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class _Document:
    """The invoice, credit note or grant of an entry. ``day`` None: the day of booking counts."""

    number: str
    legal_entity: str
    day: date | None = None


def last_id(*, wait_seconds: int = 5) -> int:
    """Return the id up to which the ledger is complete: no posting below it can appear any more.

    A sequence gives ids before the commit, so rows of a running transaction could appear below
    what was exported already. The lock waits for these transactions; new ones get higher ids.

    Raises:
        Unavailable: a transaction that books runs for longer than ``wait_seconds``.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # As ``SET LOCAL``, which takes no parameters: until the end of the transaction.
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{wait_seconds}s"])
            # SHARE conflicts with the lock of every INSERT, and not with reads.
            cursor.execute("LOCK TABLE plans_ledgerposting IN SHARE MODE")
            newest = LedgerPosting.objects.order_by("-pk").values_list("pk", flat=True).first()
    except OperationalError:
        raise Unavailable(
            "The ledger is being written: try again in a minute.", code="ledger.busy"
        ) from None
    return newest or 0


def lines(*, after: int, limit: int = MOST_LINES) -> list[JournalLine]:
    """Return up to ``limit`` lines with ids above ``after``, whole entries only.

    The number of queries is constant. An entry that alone has more lines than ``limit`` is returned
    whole. Empty: nothing is new.

    Raises:
        NotBalanced: an entry's debits and credits differ.
        Unavailable: as ``last_id`` does.
    """
    found = LedgerPosting.objects.filter(pk__gt=after, pk__lte=last_id()).order_by("pk")
    # Rows of one entry have neighboring ids: it is written by one statement.
    # One more than wanted shows whether the last entry is whole.
    postings = list(found.select_related("entry__tenant")[: limit + 1])
    if len(postings) > limit:
        last_entry = postings[-1].entry_id
        whole = [row for row in postings if row.entry_id != last_entry]
        postings = whole or list(found.filter(entry_id=last_entry).select_related("entry__tenant"))
    require_balance(postings)
    documents = _documents([row.entry for row in postings])
    codes = account_codes.Codes.read()
    return [_line(row, documents[row.entry_id], codes) for row in postings]


def require_balance(postings: Sequence[LedgerPosting]) -> None:
    """Raise NotBalanced unless the amounts of each entry sum to zero; entries must be whole."""
    sums: dict[int, int] = {}
    for row in postings:
        sums[row.entry_id] = sums.get(row.entry_id, 0) + row.amount_minor
    for entry_id, total in sums.items():
        if total:
            raise NotBalanced(
                f"Debits and credits of ledger entry {entry_id} differ by {abs(total)} minor "
                "units: rows of the ledger were altered. Nothing is exported."
            )


def all_rows(after: int) -> Iterator[Row]:
    """Yield every line with an id above ``after`` as a row of ``COLUMNS``."""
    while found := lines(after=after):
        yield from (line.row() for line in found)
        after = found[-1].posting_id


def _line(row: LedgerPosting, document: _Document, codes: account_codes.Codes) -> JournalLine:
    entry, booked_on = row.entry, row.entry.booked_at.date()
    return JournalLine(
        row.pk,
        entry.pk,
        booked_on,
        document.number,
        document.legal_entity,
        entry.tenant_id,
        entry.tenant.name,
        codes.of(document.legal_entity, row.account),
        row.account,
        entry.text,
        max(row.amount_minor, 0),
        max(-row.amount_minor, 0),
        entry.currency,
        entry.reference,
        document.day or booked_on,
    )


_Keys = dict[str, list[str]]  # what was booked, such as ``invoice`` -> the rest of the references
_Known = Iterator[tuple[str, _Document]]  # references of entries, each with its document


def _documents(entries: Sequence[LedgerEntry]) -> dict[int, _Document]:
    """Return {id of an entry: its document}, by at most five queries.

    The part of a reference before the first colon says what was booked.
    """
    ids = {entry.reference: entry.pk for entry in entries}
    keys: _Keys = {}
    for reference in ids:
        kind, _, key = reference.partition(":")
        keys.setdefault(kind, []).append(key)
    known = [*_issued(keys), *_paid(keys), *_granted(keys, ids.values())]
    found = {ids[reference]: document for reference, document in known if reference in ids}
    # Without a known document the entry itself names the legal entity; old entries name none.
    return {entry.pk: _Document("", entry.legal_entity) for entry in entries} | found


def _issued(keys: _Keys) -> _Known:
    """Find invoices, issued or written off, and credit notes."""
    invoices = Invoice.objects.filter(
        pk__in=[*keys.get("invoice", []), *keys.get("write_off", [])]
    ).values_list("pk", "number", "legal_entity", "issued_at", "time_zone")
    for pk, number, entity, issued_at, time_zone in invoices:
        yield f"invoice:{pk}", _Document(number or "", entity, _day(issued_at, time_zone))
        yield f"write_off:{pk}", _Document(number or "", entity)
    notes = CreditNote.objects.filter(pk__in=keys.get("credit_note", []))
    for pk, number, entity, issued_at, time_zone in notes.values_list(
        "pk", "number", "legal_entity", "issued_at", "invoice__time_zone"
    ):
        yield f"credit_note:{pk}", _Document(number, entity, _day(issued_at, time_zone))


def _paid(keys: _Keys) -> _Known:
    """Find the invoices of payments and of refunds."""
    # By the reference alone; ``_documents`` also compares the source.
    references = [key.partition(":")[2] for key in keys.get("payment", [])]
    for payment in Payment.objects.filter(reference__in=references).select_related("invoice"):
        invoice = payment.invoice
        reference = f"payment:{payment.source}:{payment.reference}"
        bill = _Document(invoice.number or "", invoice.legal_entity, payment.received_on)
        yield reference, bill
    refunds = Refund.objects.filter(
        pk__in=[*keys.get("refund", []), *keys.get("refund_failed", [])]
    ).values_list("pk", "invoice__number", "invoice__legal_entity")
    for pk, number, entity in refunds:
        for kind in ("refund", "refund_failed"):
            yield f"{kind}:{pk}", _Document(number or "", entity)


def _granted(keys: _Keys, entry_ids: Collection[int]) -> _Known:
    """Find granted credit, from its grant, its expiry or what was paid back of it."""
    paid_back = [key.partition(":") for key in keys.get("credit_pay_back", [])]
    ended = [*keys.get("credit_expiry", []), *(pk for pk, _, _ in paid_back)]
    grants = CreditGrant.objects.filter(Q(entry__in=entry_ids) | Q(pk__in=ended))
    sellers = {}
    for grant in grants:
        sellers[grant.pk] = grant.legal_entity
        document = _Document(grant.reference, grant.legal_entity)
        yield f"credit_grant:{grant.tenant_id}:{grant.reference}", document
        yield f"credit_expiry:{grant.pk}", document
    for pk, _, reference in paid_back:
        yield f"credit_pay_back:{pk}:{reference}", _Document(reference, sellers[pk])


def _day(issued_at: datetime | None, time_zone: str) -> date | None:
    if issued_at is None:
        return None
    with suppress(Invalid):  # a zone that the system does not know any more
        # Without a zone if an earlier version of Waypost made the draft.
        return issued_at.astimezone(zone(time_zone or "UTC")).date()
    return None
