"""Reports revenue by the month that earns it and by the month that bills it, and prepaid credit.

Revenue of an invoice is earned in the billing month of its period, that of a credit note in the
month of its issue. So is that of an invoice that replaces a voided one, because the credit note
that voids is: the month of the period stays as it was. What was billed before the month that earns
it is deferred; what is earned before it is billed is accrued. Prepaid credit is owed until an
invoice uses it, it expires, or it is paid back. All figures are sums of ledger postings, so they
add up to the ledger's balances.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Sum
from django.db.models.functions import TruncMonth

from plans.exports import report_days
from plans.exports.tables import Column, Row, Type
from plans.models import CreditGrant, CreditNote, Invoice
from plans.rating import money

COLUMNS = (
    Column("month", Type.CODE),
    Column("legal_entity", Type.CODE),
    Column("currency", Type.CODE),
    *(
        Column(name, Type.DECIMAL)
        for name in ("billed", "earned", "deferred", "accrued", "prepaid_received",
                     "prepaid_used", "prepaid_expired", "prepaid_owed", "prepaid_paid_back")
    ),
)  # fmt: skip
# Postings to revenue by booking month (UTC) and by the month that earns them (the billing time zone
# of the invoice). Credits are negative in the ledger and positive here. What was booked and earned
# before the report's first month changes no figure of the report, so it is not read.
_REVENUE = """
SELECT coalesce(i.legal_entity, n.legal_entity, ''), e.currency,
       date_trunc('month', e.booked_at AT TIME ZONE 'UTC')::date,
       date_trunc('month', CASE WHEN i.id IS NULL OR i.replaces_id IS NOT NULL
         THEN e.booked_at AT TIME ZONE 'UTC'
         ELSE i.starts_at AT TIME ZONE coalesce(nullif(i.time_zone, ''), 'UTC') END)::date,
       -sum(p.amount_minor)
FROM plans_ledgerentry e
JOIN plans_ledgerposting p ON p.entry_id = e.id AND p.account LIKE 'revenue:%%'
LEFT JOIN plans_invoice i ON i.id = substr(e.reference, length('invoice:') + 1)
     AND e.reference LIKE 'invoice:%%'
LEFT JOIN plans_creditnote n ON n.id = substr(e.reference, length('credit_note:') + 1)
     AND e.reference LIKE 'credit_note:%%'
WHERE e.booked_at >= %(since)s OR e.reference = ANY(ARRAY(
    SELECT 'invoice:' || id FROM plans_invoice WHERE number IS NOT NULL AND starts_at >= %(since)s))
GROUP BY 1, 2, 3, 4
"""
# Of all time, because what is owed is a balance; only entries that touch granted credit.
_PREPAID = """
SELECT split_part(p.account, ':', 2), e.currency,
       date_trunc('month', e.booked_at AT TIME ZONE 'UTC')::date,
       CASE WHEN e.reference LIKE 'credit_grant:%%' THEN 'received'
            WHEN e.reference LIKE 'credit_expiry:%%' THEN 'expired'
            WHEN e.reference LIKE 'credit_pay_back:%%' THEN 'paid_back' ELSE 'used' END,
       -sum(p.amount_minor)
FROM plans_ledgerentry e
JOIN plans_ledgerposting p ON p.entry_id = e.id AND p.account LIKE 'prepaid:%%'
WHERE e.id IN (SELECT entry_id FROM plans_creditgrant UNION SELECT entry_id FROM plans_credituse)
GROUP BY 1, 2, 3, 4
"""
_Key = tuple[str, str]  # legal entity and currency


@dataclass
class Month:
    """The figures of one month, legal entity and currency, in minor units.

    ``deferred`` and ``accrued`` are those at the end of the month: billed and not earned yet,
    earned and not billed yet. ``prepaid_owed`` is the prepaid credit that is left then.
    """

    month: date
    legal_entity: str
    currency: str
    billed: int = 0
    earned: int = 0
    deferred: int = 0
    accrued: int = 0
    prepaid_received: int = 0
    prepaid_used: int = 0
    prepaid_expired: int = 0
    prepaid_paid_back: int = 0
    prepaid_owed: int = 0

    def row(self) -> Row:
        """Return the month as a row of ``COLUMNS``; amounts are in the main unit."""
        texts = {"month": f"{self.month:%Y-%m}", "legal_entity": self.legal_entity,
                 "currency": self.currency}  # fmt: skip
        return {
            **texts,
            **{column.name: money.to_major(getattr(self, column.name), self.currency)
               for column in COLUMNS if column.name not in texts},
        }  # fmt: skip


def report(first: date, last: date) -> list[Month]:
    """Return the months from ``first`` to ``last`` by legal entity and currency, by two queries.

    Both are first days of months. Legal entities without revenue or prepaid credit are left out.

    Raises:
        Invalid: ``last`` is before ``first``, or there are more than ``report_days.MOST_MONTHS``.
    """
    months = report_days.each_month(first, last)
    # A day earlier, because a month begins earlier in time zones east of UTC.
    since = datetime(first.year, first.month, 1, tzinfo=UTC) - timedelta(days=1)
    revenue, prepaid = _sums(_REVENUE, since), _sums(_PREPAID, since)
    keys = sorted({*revenue, *prepaid})
    return [_month(month, key, revenue[key], prepaid[key]) for key in keys for month in months]


def disagreements(months: Sequence[Month]) -> list[str]:
    """Return where the report and the documents disagree, as texts for people; normally none.

    Billed revenue is compared with the net amounts of invoices and credit notes of the month, and
    prepaid credit with the grants of the month: the report is made of ledger postings only.
    """
    if not months:
        return []
    billed: Counter[tuple[date, str, str]] = Counter()
    first, after = (
        min(row.month for row in months),
        report_days.next_month(max(row.month for row in months)),
    )
    for model, sign in ((Invoice, 1), (CreditNote, -1)):
        issued = model._default_manager.filter(
            issued_at__gte=_utc(first), issued_at__lt=_utc(after)
        )
        for at, entity, currency, net in (
            issued.values_list(TruncMonth("issued_at", tzinfo=UTC), "legal_entity", "currency")
            .annotate(net=Sum("net_minor"))
            .order_by()
        ):
            billed[at.date(), entity, currency] += sign * net
    received: Counter[tuple[date, str, str]] = Counter()
    granted = CreditGrant.objects.filter(
        kind=CreditGrant.Kind.PREPAID, granted_at__gte=_utc(first), granted_at__lt=_utc(after)
    )
    for at, entity, currency, amount in (
        granted.values_list(TruncMonth("granted_at", tzinfo=UTC), "legal_entity", "currency")
        .annotate(amount=Sum("amount_minor"))
        .order_by()
    ):
        received[at.date(), entity, currency] += amount
    return [
        f"{row.month:%Y-%m} {row.legal_entity} {row.currency}: the ledger says {booked}, the "
        f"{words} say {stated}"
        for row in months
        for words, booked, stated in (
            ("invoices and credit notes", row.billed,
             billed[row.month, row.legal_entity, row.currency]),
            ("grants of prepaid credit", row.prepaid_received,
             received[row.month, row.legal_entity, row.currency]),
        )
        if booked != stated
    ]  # fmt: skip


def _sums(statement: str, since: datetime) -> defaultdict[_Key, list[tuple[Any, ...]]]:
    """Return the rows of a statement, without the key, by (legal entity, currency)."""
    found: defaultdict[_Key, list[tuple[Any, ...]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(statement, {"since": since})
        for entity, currency, *row, amount in cursor.fetchall():
            found[entity, currency].append((*row, int(amount)))
    return found


def _month(
    month: date, key: _Key, revenue: Sequence[tuple[Any, ...]], prepaid: Sequence[tuple[Any, ...]]
) -> Month:
    made = Month(month, *key)
    for booked, earned, amount in revenue:
        made.billed += amount if booked == month else 0
        made.earned += amount if earned == month else 0
        made.deferred += amount if booked <= month < earned else 0
        made.accrued += amount if earned <= month < booked else 0
    for booked, what, amount in prepaid:
        made.prepaid_owed += amount if booked <= month else 0
        if booked == month:
            # What is used, expired or paid back lowers the balance; it is stated above zero.
            change = amount if what == "received" else -amount
            setattr(made, f"prepaid_{what}", getattr(made, f"prepaid_{what}") + change)
    return made


def _utc(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
