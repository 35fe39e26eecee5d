"""Reports what customers owe on a day by the age of the debt: the aged receivables.

What is due of an invoice now follows from its row and those of its payments, refunds and credit
notes. What the ledger booked to ``receivable`` after the day is taken back. So the sum of a day is
the balance of this account, and the cost follows the unpaid invoices and what was booked since.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time

from django.db import connection

from plans.exports.tables import Column, Row, Type
from plans.invoicing import receiving
from plans.ledger import posting
from plans.models import Invoice
from plans.rating import money
from tenants.models import Tenant

# One statement, so that a payment between two readings cannot count in one of them only. ``due`` is
# what is due of the unpaid invoices now. ``later`` is what was booked after the day. The reference
# of an entry names the invoice, or a row that belongs to it (``LedgerEntry``). That of a payment is
# compared as a whole, because its source may contain a colon.
_DUE_ON_DAY = """
WITH due(id, minor) AS ({due}), later(id, minor) AS (
  SELECT coalesce(y.invoice_id, n.invoice_id, r.invoice_id, split_part(e.reference, ':', 2)),
         sum(p.amount_minor)
  FROM plans_ledgerentry e
  JOIN plans_ledgerposting p ON p.entry_id = e.id AND p.account = %s
  LEFT JOIN plans_payment y ON e.reference = 'payment:' || y.source || ':' || y.reference
  LEFT JOIN plans_creditnote n ON e.reference LIKE 'credit_note:%%'
       AND n.id = split_part(e.reference, ':', 2)
  LEFT JOIN plans_refund r ON e.reference LIKE 'refund%%' AND r.id = split_part(e.reference, ':', 2)
  WHERE e.booked_at > %s AND (%s = '' OR e.tenant_id = %s)
  GROUP BY 1)
SELECT id, coalesce(due.minor, 0) - coalesce(later.minor, 0)
FROM due FULL JOIN later USING (id)
WHERE coalesce(due.minor, 0) <> coalesce(later.minor, 0)
"""


@dataclass
class Amounts:
    """What is due, in minor units of one currency, by days since the day by which to pay."""

    not_due: int = 0  # this day is not over
    days_1_to_30: int = 0
    days_31_to_60: int = 0
    days_61_to_90: int = 0
    days_over_90: int = 0

    @property
    def total(self) -> int:
        return self.not_due + self.overdue

    @property
    def overdue(self) -> int:
        return self.days_1_to_30 + self.days_31_to_60 + self.days_61_to_90 + self.days_over_90

    def add(self, bucket: str, minor: int) -> None:
        """Add an amount to the bucket with this name, one of ``BUCKETS``."""
        setattr(self, bucket, getattr(self, bucket) + minor)


BUCKETS = tuple(bucket.name for bucket in fields(Amounts))
AMOUNTS = (*BUCKETS, "overdue", "total")
COLUMNS = (
    *(Column(name, Type.CODE) for name in ("as_of", "legal_entity", "currency", "tenant_id")),
    Column("tenant", Type.TEXT),
    *(Column(name, Type.DECIMAL) for name in AMOUNTS),
)


@dataclass(frozen=True)
class OpenItem:
    """What is due of one invoice on the day, in minor units of its currency.

    ``days_overdue`` counts from ``due_on`` of the invoice on; 0 or less: that day is not over.
    """

    invoice: Invoice
    days_overdue: int
    due_minor: int

    @property
    def bucket(self) -> str:
        return bucket_of(self.days_overdue)

    @property
    def seller(self) -> tuple[str, str]:
        """The legal entity and the currency."""
        return self.invoice.legal_entity, self.invoice.currency


@dataclass(kw_only=True)
class Debt(Amounts):
    """What is owed to one legal entity in one currency."""

    legal_entity: str
    currency: str


@dataclass(kw_only=True)
class TenantDebt(Debt):
    """What one tenant owes to one legal entity in one currency."""

    tenant: Tenant

    def rank(self) -> tuple[int, int, str, str]:
        """Return the key of the order of reports: the largest overdue amount comes first."""
        return -self.overdue, -self.total, self.tenant.name, self.tenant.pk


@dataclass(frozen=True)
class Group:
    """The debts to one legal entity in one currency, the largest overdue amount first.

    ``sums`` are those of all ``debts``. Amounts of two groups are never added.
    """

    sums: Debt
    debts: tuple[TenantDebt, ...]


def bucket_of(days_overdue: int) -> str:
    """Return the name of the bucket, one of ``BUCKETS``, for a debt of this age in days."""
    if days_overdue < 1:
        return "not_due"
    bounds = ((30, "days_1_to_30"), (60, "days_31_to_60"), (90, "days_61_to_90"))
    return next((name for last, name in bounds if days_overdue <= last), "days_over_90")


def open_items(day: date, now: datetime, tenant: Tenant | None = None) -> list[OpenItem]:
    """Return the invoices of which something was due at the end of ``day`` (UTC), the oldest first.

    Of the running day, what is due at ``now``. Only those of ``tenant`` if it is given. Their
    tenants are loaded. A constant number of queries.
    """
    at = min(now, datetime.combine(day, time.max, UTC))
    due = _due_minor(at, tenant)
    rows = Invoice.objects.filter(pk__in=due).select_related("tenant").defer("manifest", "quality")
    # Only invoices that an earlier version drafted have no time zone of their own: documents may be
    # large, and theirs says by which clock they are due.
    zoned = rows.exclude(time_zone="").defer("document", "manifest", "quality")
    items = [
        OpenItem(invoice, invoice.days_overdue(at), due[invoice.pk])
        for invoice in (*zoned, *rows.filter(time_zone=""))
    ]
    return sorted(items, key=lambda item: (-item.days_overdue, item.invoice.number or ""))


def report(day: date, now: datetime) -> list[Group]:
    """Return what each tenant owed at the end of ``day`` (UTC), by legal entity and currency.

    Of the running day, what is due at ``now``. Tenants that owe nothing are left out. A constant
    number of queries.
    """
    sums: dict[tuple[str, str], Debt] = {}
    debts: dict[tuple[str, str], dict[str, TenantDebt]] = {}
    for item in open_items(day, now):
        tenant, seller = item.invoice.tenant, item.seller
        entity, currency = seller
        of_all = sums.setdefault(seller, Debt(legal_entity=entity, currency=currency))
        own = debts.setdefault(seller, {}).setdefault(
            tenant.pk, TenantDebt(legal_entity=entity, currency=currency, tenant=tenant)
        )
        for debt in (of_all, own):
            debt.add(item.bucket, item.due_minor)
    return [
        Group(sums[seller], tuple(sorted(debts[seller].values(), key=TenantDebt.rank)))
        for seller in sorted(sums)
    ]


def rows(day: date, groups: Iterable[Group]) -> Iterator[Row]:
    """Yield the tenants of the report of ``day`` as rows of ``COLUMNS``, in the main unit."""
    for debt in (debt for group in groups for debt in group.debts):
        yield {
            "as_of": day.isoformat(),
            "legal_entity": debt.legal_entity,
            "currency": debt.currency,
            "tenant_id": debt.tenant.pk,
            "tenant": debt.tenant.name,
            **{name: money.to_major(getattr(debt, name), debt.currency) for name in AMOUNTS},
        }


def _due_minor(at: datetime, tenant: Tenant | None) -> dict[str, int]:
    """Return {invoice id: what was due at ``at``} where it is not zero; all tenants for None."""
    unpaid = Invoice.objects.filter(state__in=receiving.UNPAID)
    if tenant is not None:
        unpaid = unpaid.filter(tenant=tenant)
    due, values = unpaid.values_list("pk", receiving.outstanding()).query.sql_with_params()
    of = tenant.pk if tenant else ""
    with connection.cursor() as cursor:
        # Only the text of the query of invoices is inserted; all values are parameters.
        cursor.execute(_DUE_ON_DAY.format(due=due), [*values, posting.RECEIVABLE, at, of, of])
        return {invoice: int(minor) for invoice, minor in cursor.fetchall()}
