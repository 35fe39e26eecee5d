"""Books entries in the double-entry ledger, for ``plans.invoicing``; reads balances.

Debits are positive, credits negative, and the amounts of each entry sum to zero; a deferred trigger
of the database checks that, too. Posted rows never change. Accounts of a tenant: ``receivable``,
``revenue:<meter>``, ``tax``, ``cash_clearing``, ``bad_debt``, ``credit:<legal entity>``,
``prepaid:<legal entity>``, ``promotional:<legal entity>``, ``promotion_expense``, ``breakage``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Sum

from controlplane.core.errors import Conflict
from plans.models import LedgerEntry, LedgerPosting

RECEIVABLE = "receivable"
TAX = "tax"
CASH_CLEARING = "cash_clearing"
BAD_DEBT = "bad_debt"
PROMOTION = "promotion_expense"
BREAKAGE = "breakage"  # prepaid credit that nobody used before it expired


class EntryNotBalanced(Conflict):
    """Debits and credits of an entry differ: a programming error. Nothing is written."""

    code = "ledger.not_balanced"


class ReferenceReused(Conflict):
    """An entry with this reference is booked already, with other amounts. Nothing is written."""

    code = "ledger.reference_reused"


@dataclass(frozen=True)
class Booking:
    """An entry to book; ``postings`` are amounts in minor units of ``currency`` by account.

    ``reference`` is the key of the entry, which makes booking it idempotent. ``legal_entity`` is
    the seller in whose books it is.
    """

    reference: str
    tenant_id: str
    currency: str
    text: str
    postings: Mapping[str, int]
    legal_entity: str = ""


def revenue(meter: str) -> str:
    """Return the name of a meter's revenue account; the plan fee has the meter ``plan_fee``."""
    return f"revenue:{meter}"


def invoice_reference(invoice_id: str) -> str:
    """Return the reference of the ledger entry that books an invoice."""
    return f"invoice:{invoice_id}"


def entry_of(invoice_id: str) -> LedgerEntry | None:
    """Return the entry that booked an invoice; None before it is issued."""
    return LedgerEntry.objects.filter(reference=invoice_reference(invoice_id)).first()


def credit_note_reference(note_id: str) -> str:
    """Return the reference of the ledger entry that books a credit note."""
    return f"credit_note:{note_id}"


def booked(reference: str) -> dict[str, int]:
    """Return {account: amount in minor units} of the entry ``reference``; {} if there is none."""
    entry = LedgerEntry.objects.filter(reference=reference).first()
    return dict(entry.postings.values_list("account", "amount_minor")) if entry else {}


def credit(legal_entity: str = "") -> str:
    """Return the name of a legal entity's credit account; for "", the prefix of all such names."""
    return f"credit:{legal_entity}"


def post(booking: Booking, *, at: datetime) -> LedgerEntry:
    """Book an entry once; if its reference and amounts are booked already, return that entry.

    Accounts with the amount zero get no posting. ``at`` is stored as the time of booking.

    Raises:
        EntryNotBalanced: the amounts do not sum to zero.
        ReferenceReused: the reference exists with other amounts.
    """
    # Zero amounts are not stored. Drop them, so that a repeated booking equals the stored rows.
    amounts = {account: amount for account, amount in booking.postings.items() if amount}
    if sum(amounts.values()) != 0:
        raise EntryNotBalanced(f"The entry {booking.reference} does not sum to zero.")
    with transaction.atomic():
        # The reference is unique: a parallel booking waits here and then finds this entry.
        entry, is_new = LedgerEntry.objects.get_or_create(
            reference=booking.reference,
            defaults={
                "tenant_id": booking.tenant_id,
                "legal_entity": booking.legal_entity,
                "currency": booking.currency,
                "text": booking.text,
                "booked_at": at,
            },
        )
        if is_new:
            LedgerPosting.objects.bulk_create(
                LedgerPosting(entry=entry, account=account, amount_minor=amount)
                for account, amount in sorted(amounts.items())
            )
        elif dict(entry.postings.values_list("account", "amount_minor")) != amounts:
            raise ReferenceReused(f"{booking.reference} is booked already with other amounts.")
    return entry


def balance(
    tenant_id: str, account: str, currency: str, *, before: LedgerEntry | None = None
) -> int:
    """Return the balance of a tenant's account in minor units of ``currency``; debits are positive.

    With ``before``, only entries that were booked before that one count; this is exact for credit
    accounts only. An ``account`` that ends with a colon stands for all accounts with this prefix.
    """
    postings = LedgerPosting.objects.filter(entry__tenant_id=tenant_id, entry__currency=currency)
    if before is not None:
        # The order of ids is the order of booking for postings to a credit account, because all of
        # them are made under the lock of the number series. Only such accounts are read with
        # ``before``.
        postings = postings.filter(entry_id__lt=before.pk)
    if account.endswith(":"):
        postings = postings.filter(account__startswith=account)
    else:
        postings = postings.filter(account=account)
    return postings.aggregate(total=Sum("amount_minor"))["total"] or 0
