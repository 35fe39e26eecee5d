"""Reads what a tenant agreed on besides its plan: discounts, commitments, and how it is taxed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.db.models import Q

from plans.models import Commitment, Discount, TaxExemption
from plans.rating import taxes, terms, vat_ids
from plans.rating.periods import Period, zone
from plans.rating.taxes import Buyer, Category, TaxRule
from plans.rating.terms import Terms
from plans.rating.vat_ids import Status
from tenants.models import Tenant

# The billing month of a period begins and ends at most this far from it, in any time zone.
_MONTH = timedelta(days=32)
# A day of a billing time zone begins and ends at most this far from the one of UTC.
_DAY = timedelta(days=1)
# The midnights of one date are at most this far apart: UTC+14 and UTC-12.
_TIME_ZONES = timedelta(hours=26)


@dataclass(frozen=True)
class Agreed:
    """What one tenant agreed on near a period: discounts and commitments in any currency.

    ``exemptions`` are its tax exemptions, the one that began last first.
    """

    discounts: Sequence[Discount]
    commitments: Sequence[Commitment]
    exemptions: Sequence[TaxExemption]

    @classmethod
    def read_each(cls, tenants: Sequence[Tenant], period: Period) -> "dict[str, Agreed]":
        """Read what each tenant agreed on in three queries; return it by the tenant's id."""
        near = Q(starts_at__lt=period.ends_at + _MONTH) & (
            Q(ends_at__isnull=True) | Q(ends_at__gt=period.starts_at - _MONTH)
        )
        discounts: dict[str, list[Discount]] = {tenant.id: [] for tenant in tenants}
        commitments: dict[str, list[Commitment]] = {tenant.id: [] for tenant in tenants}
        for discount in Discount.objects.filter(near, tenant__in=tenants):
            discounts[discount.tenant_id].append(discount)
        agreed = Commitment.objects.filter(near, tenant__in=tenants)
        for commitment in agreed.order_by("starts_at", "id"):
            commitments[commitment.tenant_id].append(commitment)
        exemptions: dict[str, list[TaxExemption]] = {tenant.id: [] for tenant in tenants}
        certified = TaxExemption.objects.filter(
            starts_on__lte=period.ends_at.date() + _DAY, tenant__in=tenants
        )
        for exemption in certified.order_by("-starts_on", "-pk"):
            exemptions[exemption.tenant_id].append(exemption)
        return {id: cls(mine, commitments[id], exemptions[id]) for id, mine in discounts.items()}


def of_month(agreed: Agreed, month: Period, currency: str) -> Terms:
    """Return the discounts and commitments of a billing month, in the currency of its invoices.

    A discount counts for all of a month if more than 26 hours of the month are in its time.
    Discounts begin and end with months, so this is the same as any instant; but months move by up
    to 26 hours if the tenant changes its billing time zone. Percentages apply first, then amounts,
    each in the order in which they began; of one instant, discounts of all meters apply before
    those of some, and then in the order of their titles.
    """
    discounts = [
        row
        for row in agreed.discounts
        if _counts(row, month) and (row.percent is not None or row.currency == currency)
    ]
    spans = [
        (row, month.clip(row.starts_at, row.ends_at))
        for row in agreed.commitments
        if row.currency == currency
    ]
    ordered = sorted(
        discounts,
        key=lambda row: (
            row.percent is None, row.starts_at, bool(row.meters), row.title, row.pk
        ),
    )  # fmt: skip
    return Terms(
        tuple(
            terms.Discount(row.pk, row.title, row.percent, row.amount_minor, tuple(row.meters))
            for row in ordered
        ),
        tuple(
            terms.Commitment(row.pk, row.title, row.minimum_minor, span)
            for row, span in spans
            if span is not None  # of a commitment that ended where it began, the span is empty
        ),
    )


def _counts(row: Discount, month: Period) -> bool:
    span = month.clip(row.starts_at, row.ends_at)
    return span is not None and span.ends_at - span.starts_at > _TIME_ZONES


def tax_of(
    tenant: Tenant, agreed: Agreed, seller_country: str, period: Period, time_zone: str
) -> TaxRule | None:
    """Return the tax of a tenant for a period; None: the seller's one rate from the catalog.

    ``seller_country`` is empty for a seller that taxes everything at one rate: only an exemption of
    the tenant changes this rate. Rate and exemption are those of the period's last day in the
    billing time zone, on which the service is complete.

    Raises:
        Invalid: the table of rates lacks a country.
    """
    # The end is not part of the period: one that ends at midnight ends on the day before.
    last = (period.ends_at.astimezone(zone(time_zone)) - timedelta(microseconds=1)).date()
    exemption = exemption_on(agreed.exemptions, last)
    if not seller_country:
        return exemption
    buyer = Buyer(tenant.billing_country, tax_id_status(tenant), exemption)
    return taxes.decide(seller_country, buyer, last)


def exemption_on(exemptions: Iterable[TaxExemption], day: date) -> TaxRule | None:
    """Return the tax of the first exemption that is valid on a day; None: there is none."""
    for row in exemptions:
        if row.starts_on <= day and (row.ends_on is None or row.ends_on >= day):
            note = f"{row.text} (certificate {row.certificate})"
            return TaxRule(Decimal(0), Category(row.category), note)
    return None


def tax_id_status(tenant: Tenant) -> Status:
    """Return the status of the tenant's tax id, by its form or by the register's refusal."""
    # Staff recorded the register's refusal. The form of a refused id is valid.
    if tenant.tax_id_status == Status.REFUSED:
        return Status.REFUSED
    return vat_ids.check(tenant.billing_country, tenant.tax_id)
