"""A tenant's credit with a legal entity: negative invoices add to it, later ones use it.

The credit is the balance of the ledger account ``credit:<legal entity>``. Only issuing posts to
such an account, so the credit before any past invoice can still be computed.
"""

from plans.ledger import posting
from plans.models import LedgerEntry


def used(total_minor: int, before_minor: int) -> int:
    """Return the part of a total that the credit settles: at most the credit, at most the total.

    A negative total is returned as it is: settling it makes the credit grow by as much.
    """
    return min(total_minor, before_minor)


def before(
    tenant_id: str, legal_entity: str, currency: str, *, entry: LedgerEntry | None = None
) -> int:
    """Return the tenant's credit with the legal entity in minor units; never negative.

    As of now, or as of just before ``entry`` was booked.
    """
    account = posting.credit(legal_entity)
    # The seller owes the credit: a liability, which the ledger keeps as a negative balance.
    return -posting.balance(tenant_id, account, currency, before=entry)


def credit_minor(tenant_id: str, currency: str) -> int:
    """Return the tenant's credit in ``currency`` with all legal entities, in minor units."""
    return -posting.balance(tenant_id, posting.credit(), currency)
