"""Reads what is left of a tenant's promotional and prepaid credit, now or before a past entry.

Every transaction that grants or uses credit holds the lock of the number series of the legal
entity, so the order of ledger entries is the order of their commits.
"""

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from plans.models import CreditGrant, LedgerEntry
from plans.rating.credits import Grant


def account(kind: str, legal_entity: str) -> str:
    """Return the name of the account that holds granted credit of one kind: ``prepaid:wp``."""
    return f"{kind}:{legal_entity}"


def available(
    tenant_id: str, legal_entity: str, currency: str, *, entry: LedgerEntry | None = None
) -> tuple[Grant, ...]:
    """Return the tenant's grants of which something is left, expired or not, oldest first.

    With ``entry``: those of just before this entry was booked.
    """
    rows = CreditGrant.objects.filter(
        tenant_id=tenant_id, legal_entity=legal_entity, currency=currency
    )
    counted = Q()
    # Under the lock of the series, ids of entries are in the order of commits.
    if entry is not None:
        rows = rows.filter(entry_id__lt=entry.pk)
        counted = Q(uses__entry_id__lt=entry.pk)
    used = Coalesce(Sum("uses__amount_minor", filter=counted), 0)
    found = rows.annotate(used=used).order_by("entry_id")
    return tuple(
        Grant(row.pk, row.kind, row.amount_minor - row.used, row.expires_at, row.entry_id)
        for row in found
        if row.amount_minor > row.used
    )


def listed(tenant_id: str) -> list[CreditGrant]:
    """Return all grants of a tenant, the oldest first, each with ``left_minor`` of its amount."""
    used = Coalesce(Sum("uses__amount_minor"), 0)
    rows = CreditGrant.objects.filter(tenant_id=tenant_id)
    return list(rows.annotate(left_minor=F("amount_minor") - used).order_by("entry_id"))


def with_left(row: CreditGrant) -> CreditGrant:
    """Return the grant again, with ``left_minor`` of its amount."""
    return next(one for one in listed(row.tenant_id) if one.pk == row.pk)
