"""Reports the tax of issued documents: VAT by country and rate, and reverse charge by VAT id.

A document counts in the month of its issue (UTC). Invoices add, credit notes subtract. The figures
come from the stored documents, and are compared with what the ledger booked to ``tax``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from plans.exports import report_days
from plans.exports.tables import Column, Row, Type
from plans.ledger import posting
from plans.rating import money
from plans.rating.taxes import Category
from plans.rating.vat_ids import EU

# One row for each tax of a document. A tax after the first one is that of corrected months, whose
# invoices have the buyer of that time. The lines lead to these invoices: those of a credit note by
# their positions in the credited invoice ``charged``. The newest of these invoices decides.
#
# Both tables are sums of the same rows, so one statement reads and parses each document once. A
# certificate of each category may have a text of its own, so one row may have two taxes of a
# document, which counts once. Greek VAT ids are often written with GR, but begin with EL.
_TAXES = """
WITH issued AS (
  SELECT 1 AS sign, id, legal_entity, currency, issued_at,
         document::jsonb AS made, document::jsonb AS charged
  FROM plans_invoice
  WHERE number IS NOT NULL AND issued_at >= %(since)s AND issued_at < %(until)s
  UNION ALL
  SELECT -1, n.id, n.legal_entity, n.currency, n.issued_at, n.document::jsonb, i.document::jsonb
  FROM plans_creditnote n JOIN plans_invoice i ON i.id = n.invoice_id
  WHERE n.issued_at >= %(since)s AND n.issued_at < %(until)s),
taxed AS (
  SELECT d.sign, d.id, d.legal_entity, d.currency,
         date_trunc('month', d.issued_at AT TIME ZONE 'UTC')::date AS month,
         coalesce(tax->>'category', '') AS category,
         trim_scale((tax->>'percent')::numeric) AS percent,
         (tax->>'taxable_minor')::bigint AS taxable, (tax->>'tax_minor')::bigint AS tax,
         coalesce(corrected.issued_at, d.issued_at) AS stated_at,
         coalesce(corrected.buyer, d.made->'buyer') AS buyer,
         d.made #>> '{seller,country}' AS seller_country
  FROM issued d
  CROSS JOIN LATERAL jsonb_array_elements(d.made->'taxes') WITH ORDINALITY AS each(tax, n)
  LEFT JOIN LATERAL (
    SELECT c.issued_at, c.document::jsonb->'buyer' AS buyer
    FROM jsonb_array_elements(d.made->'lines') AS own(line)
    JOIN jsonb_array_elements(d.charged->'lines') AS of_invoice(charge)
         ON charge->'position' = coalesce(line->'invoice_position', line->'position')
    JOIN plans_invoice c ON c.number = charge #>> '{detail,corrects}'
    WHERE jsonb_array_length(d.charged->'taxes') > 1
      AND coalesce((line->>'tax')::int, 1) = each.n AND (charge->>'tax')::int > 1
    ORDER BY c.issued_at DESC, c.id DESC LIMIT 1) AS corrected ON true),
placed AS (
  SELECT *, coalesce(buyer->>'country', '') AS country,
         coalesce(category = %(standard)s AND buyer->>'country' = ANY(%(eu)s)
                  AND buyer->>'country' <> seller_country, false) AS oss,
         CASE WHEN category = %(reverse)s THEN regexp_replace(upper(regexp_replace(
           coalesce(buyer->>'tax_id', ''), '[^[:alnum:]]', '', 'g')), '^GR', 'EL') END AS vat_id
  FROM taxed)
SELECT month, legal_entity, currency, country, category, percent, oss,
       vat_id, (array_agg(country ORDER BY stated_at DESC, id DESC))[1],
       (array_agg(buyer->>'name' ORDER BY stated_at DESC, id DESC))[1],
       count(DISTINCT id), sum(sign * taxable), sum(sign * tax)
FROM placed
GROUP BY GROUPING SETS (
  (legal_entity, currency, month, country, category, percent, oss),
  (legal_entity, currency, vat_id))
HAVING month IS NOT NULL OR vat_id IS NOT NULL
ORDER BY month, legal_entity, currency, country, category, percent DESC, oss, vat_id
"""
_LEDGER = """
SELECT date_trunc('month', e.booked_at AT TIME ZONE 'UTC')::date,
       coalesce(i.legal_entity, n.legal_entity, e.legal_entity), e.currency, -sum(p.amount_minor)
FROM plans_ledgerentry e
JOIN plans_ledgerposting p ON p.entry_id = e.id AND p.account = %(account)s
LEFT JOIN plans_invoice i ON i.id = substr(e.reference, length('invoice:') + 1)
     AND e.reference LIKE 'invoice:%%'
LEFT JOIN plans_creditnote n ON n.id = substr(e.reference, length('credit_note:') + 1)
     AND e.reference LIKE 'credit_note:%%'
WHERE e.booked_at >= %(since)s AND e.booked_at < %(until)s
GROUP BY 1, 2, 3
"""
COLUMNS = (
    *(Column(name, Type.CODE) for name in ("month", "legal_entity", "currency", "country")),
    Column("category", Type.CODE),
    Column("percent", Type.DECIMAL),
    Column("oss", Type.CODE),
    Column("documents", Type.INTEGER),
    Column("taxable", Type.DECIMAL),
    Column("tax", Type.DECIMAL),
)
CUSTOMER_COLUMNS = (
    *(Column(name, Type.CODE) for name in ("first", "last", "legal_entity", "currency")),
    Column("vat_id", Type.TEXT),
    Column("country", Type.CODE),
    Column("name", Type.TEXT),
    Column("documents", Type.INTEGER),
    Column("taxable", Type.DECIMAL),
)


@dataclass(frozen=True)
class RateSum:
    """The sums of one month, seller, currency, buyer's country, category and rate.

    Amounts are in minor units. ``category`` is empty if the seller's regime is flat. ``is_oss``:
    sales to another country of the EU at the rate of that country.
    """

    month: date
    legal_entity: str
    currency: str
    country: str
    category: str
    percent: Decimal
    is_oss: bool
    n_documents: int
    taxable_minor: int
    tax_minor: int

    def row(self) -> Row:
        """Return the sums as a row of ``COLUMNS``; amounts are in the main unit."""
        return {
            "month": f"{self.month:%Y-%m}",
            "legal_entity": self.legal_entity,
            "currency": self.currency,
            "country": self.country,
            "category": self.category,
            "percent": self.percent,
            "oss": str(self.is_oss).lower(),
            "documents": self.n_documents,
            "taxable": money.to_major(self.taxable_minor, self.currency),
            "tax": money.to_major(self.tax_minor, self.currency),
        }


@dataclass(frozen=True)
class Customer:
    """What a seller charged under reverse charge to a VAT id, in minor units of ``currency``.

    Country and name are those of the newest document. ``vat_id`` is in capital letters and digits.
    """

    legal_entity: str
    currency: str
    vat_id: str
    country: str
    name: str
    n_documents: int
    taxable_minor: int


@dataclass(frozen=True)
class TaxReport:
    """The tax of the months from ``first`` to ``last``, both first days of months.

    ``disagreements`` name each month, legal entity and currency in which the ledger booked another
    tax than the documents state, as texts for people; normally none.
    """

    first: date
    last: date
    rates: tuple[RateSum, ...]
    customers: tuple[Customer, ...]
    disagreements: tuple[str, ...]

    def customer_rows(self) -> Iterator[Row]:
        """Yield the customers as rows of ``CUSTOMER_COLUMNS``; amounts are in the main unit."""
        for one in self.customers:
            yield {
                "first": f"{self.first:%Y-%m}",
                "last": f"{self.last:%Y-%m}",
                "legal_entity": one.legal_entity,
                "currency": one.currency,
                "vat_id": one.vat_id,
                "country": one.country,
                "name": one.name,
                "documents": one.n_documents,
                "taxable": money.to_major(one.taxable_minor, one.currency),
            }


def report(first: date, last: date) -> TaxReport:
    """Return the tax of the documents issued from the month ``first`` to ``last``, by two queries.

    Both are first days of months. The cost follows the documents that were issued in them.

    Raises:
        Invalid: ``last`` is before ``first``, or there are more than ``report_days.MOST_MONTHS``.
    """
    after = report_days.next_month(report_days.each_month(first, last)[-1])
    values: dict[str, Any] = {
        "since": datetime(first.year, first.month, 1, tzinfo=UTC),
        "until": datetime(after.year, after.month, 1, tzinfo=UTC),
        "standard": Category.STANDARD.value,
        "reverse": Category.REVERSE_CHARGE.value,
        "eu": sorted(EU),
        "account": posting.TAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAXES, values)
        found = cursor.fetchall()
        cursor.execute(_LEDGER, values)
        booked = {(*key, currency): int(tax) for *key, currency, tax in cursor.fetchall()}
    rates: list[RateSum] = []
    customers: list[Customer] = []
    for row in found:
        month, entity, currency, country, category, percent, oss = row[:7]
        vat_id, newest_country, name, n, taxable, tax = row[7:]
        if month is None:  # the sum of a VAT id
            customers.append(
                Customer(entity, currency, vat_id, newest_country, name, n, int(taxable))
            )
        else:
            rate = month, entity, currency, country, category, percent
            rates.append(RateSum(*rate, oss, n, int(taxable), int(tax)))
    differing = tuple(disagreements(rates, booked))
    return TaxReport(first, last, tuple(rates), tuple(customers), differing)


def disagreements(
    rates: Iterable[RateSum], booked: Mapping[tuple[date, str, str], int]
) -> Iterator[str]:
    """Yield where the tax of ``rates`` differs from what was booked, as texts for people.

    ``booked`` is {(first day of the month, legal entity, currency): tax in minor units}.
    """
    stated: Counter[tuple[date, str, str]] = Counter()
    for one in rates:
        stated[one.month, one.legal_entity, one.currency] += one.tax_minor
    for key in sorted({*booked, *stated}):
        month, entity, currency = key
        in_ledger, in_documents = booked.get(key, 0), stated[key]
        if in_ledger != in_documents:
            yield (
                f"{month:%Y-%m} {entity}: the ledger says {money.display(in_ledger, currency)}, "
                f"the invoices and credit notes say {money.display(in_documents, currency)}"
            )
