"""Computes a tenant's credit with a legal entity from invoices, without granted credit.

Negative invoices, credit notes and payments of more than is due add to the credit. Later invoices
and refunds use it. The credit is the balance of the ledger account ``credit:<legal entity>``, with
the opposite sign. Every transaction that posts to such an account holds the lock of the legal
entity's number series, so the credit before any past invoice can still be computed. This module
only reads.
"""

from plans.ledger import posting
from plans.models import LedgerEntry


def used(total_minor: int, before_minor: int) -> int:
    """Return the part of an invoice's total that the credit settles, in minor units.

    ``before_minor`` is the credit before the invoice. The result is at most the credit, and at most
    the total. A negative total is returned as it is: it makes the credit grow by as much.
    """
    return min(total_minor, before_minor)


def before(
    tenant_id: str, legal_entity: str, currency: str, *, entry: LedgerEntry | None = None
) -> int:
    """Return the tenant's credit with the legal entity in minor units; never negative.

    That is the credit now or, with ``entry``, the credit just before this entry was booked.
    """
    account = posting.credit(legal_entity)
    # The seller owes the credit: a liability, which the ledger keeps as a negative balance.
    return -posting.balance(tenant_id, account, currency, before=entry)
