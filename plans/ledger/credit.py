"""A tenant's credit with a legal entity: negative invoices add to it, later ones use it.

Each legal entity has its own credit account in the ledger, and only issuing posts to it. So the
credit before any past invoice can still be computed.
"""

from plans.ledger import posting
from plans.models import LedgerEntry


def used(total_minor: int, before_minor: int) -> int:
    """Return the part of a total that credit settles; a negative total counts in full."""
    return min(total_minor, before_minor)


def before(
    tenant_id: str, legal_entity: str, currency: str, *, entry: LedgerEntry | None = None
) -> int:
    """Return the credit in minor units, now or before ``entry`` was booked; never negative."""
    account = posting.credit(legal_entity)
    # The seller owes the credit: a liability, which the ledger keeps as a negative balance.
    return -posting.balance(tenant_id, account, currency, before=entry)


def credit_minor(tenant_id: str, currency: str) -> int:
    """Return the tenant's credit in ``currency`` with all legal entities, in minor units."""
    return -posting.balance(tenant_id, posting.credit(), currency)
