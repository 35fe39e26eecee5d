"""A tenant's credit with a seller: what invoices under nothing leave, and the next ones use.

It lives in the ledger, in an account of its own per legal entity, and only issuing moves it; so
what it was before any invoice can be read again for ever.
"""

from plans import ledger
from plans.models import LedgerEntry
from tenants.models import Tenant


def used(total_minor: int, before_minor: int) -> int:
    """Return what of a total credit settles; of a total under nothing all, which adds to it."""
    return min(total_minor, before_minor)


def before(
    tenant_id: str, legal_entity: str, currency: str, *, entry: LedgerEntry | None = None
) -> int:
    """Return the credit in minor units, now or before ``entry`` was booked; never negative."""
    account = ledger.credit(legal_entity)
    return -ledger.balance(tenant_id, account, currency, before=entry)


def credit_minor(tenant: Tenant, currency: str) -> int:
    """Return what the tenant's next invoices in ``currency`` need not pay, over all sellers."""
    return -ledger.balance(tenant.id, ledger.credit(), currency)
