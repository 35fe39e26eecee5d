"""Reads what happened to a tenant's credit, and how much of it can pay invoices now.

Credit is the balance of the accounts ``credit:``, ``prepaid:`` and ``promotional:`` of a legal
entity, in one currency. Legal entities and currencies are never added up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import (
    BigIntegerField,
    CharField,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce

from plans.ledger import credit, grants
from plans.models import CreditGrant, LedgerPosting
from plans.rating.credits import PREPAID, PROMOTIONAL

KINDS = ("credit", PREPAID, PROMOTIONAL)


@dataclass(frozen=True)
class Balance:
    """A tenant's credit with one legal entity, in minor units of one currency.

    ``invoices_minor`` comes from invoices and credit notes and never expires. ``available_minor``
    is everything that could pay an invoice now.
    """

    legal_entity: str
    currency: str
    invoices_minor: int
    prepaid_minor: int
    promotional_minor: int

    @property
    def available_minor(self) -> int:
        return self.invoices_minor + self.prepaid_minor + self.promotional_minor


def balances(tenant_id: str, now: datetime, owners: Iterable[tuple[str, str]]) -> list[Balance]:
    """Return a tenant's credit by legal entity and currency, ordered by both.

    Covers every legal entity and currency in which the tenant ever had credit, and ``owners``:
    (legal entity, currency), such as the present seller. Takes two queries, and two more for each
    result.
    """
    known = {*owners, *CreditGrant.objects.filter(tenant_id=tenant_id).values_list(
        "legal_entity", "currency")}  # fmt: skip
    booked = of_tenant(tenant_id).order_by().values("owner", "entry__currency").distinct()  # type: ignore[misc]
    known |= {(row["owner"], row["entry__currency"]) for row in booked}
    found = []
    for legal_entity, currency in sorted(known):
        left = dict.fromkeys((PREPAID, PROMOTIONAL), 0)
        for grant in grants.available(tenant_id, legal_entity, currency):
            # ``available`` also has expired grants, until their end is booked.
            if grant.expires_at is None or now < grant.expires_at:
                left[grant.kind] += grant.left_minor
        found.append(
            Balance(
                legal_entity,
                currency,
                credit.before(tenant_id, legal_entity, currency),
                left[PREPAID],
                left[PROMOTIONAL],
            )
        )
    return found


def of_tenant(tenant_id: str) -> QuerySet[LedgerPosting]:
    """Return each posting to an account of the tenant's credit, without an order.

    Each row has ``entry`` and these annotations, in minor units: ``kind`` (credit, prepaid or
    promotional), ``owner`` (the legal entity), ``change_minor`` (what the credit grew by) and
    ``after_minor`` (the credit of this owner and currency after this posting, expired credit
    included until its end is booked). An entry that uses two kinds has a posting of each, and the
    later one has the credit after the entry.
    """
    rows = LedgerPosting.objects.filter(entry__tenant_id=tenant_id).filter(_is_credit())
    rows = rows.annotate(
        kind=_part("account", 1),
        owner=_part("account", 2),
        # The seller owes credit, so the ledger keeps it below zero.
        change_minor=-F("amount_minor"),
    )
    # By id: on these accounts, ids are in the order of booking (``posting.balance``).
    until = (
        LedgerPosting.objects.filter(
            _is_credit(),
            entry__tenant_id=tenant_id,
            entry__currency=OuterRef("entry__currency"),
            pk__lte=OuterRef("pk"),
        )
        .annotate(of=_part("account", 2))
        .filter(of=OuterRef("owner"))
        .order_by()
        .values("of")
        .annotate(sum=Sum("amount_minor"))
        .values("sum")
    )
    after = Coalesce(Subquery(until, output_field=BigIntegerField()), 0)
    return rows.annotate(after_minor=-after).select_related("entry")


def _is_credit() -> Q:
    found = Q()
    for kind in KINDS:
        found |= Q(account__startswith=f"{kind}:")
    return found


def _part(column: str, n: int) -> Func:
    return Func(F(column), Value(":"), Value(n), function="split_part", output_field=CharField())
