"""Gathers the inputs of an invoice except usage, such as buyer, seller, plans, lifetimes and tax.

Reads rows and returns plain values. ``invoice_verification`` gathers the same facts years later:
it passes the facts that may change as ``Frozen``, and has subscriptions and plan versions read from
rows again. A plan version never changes. A subscription may still be open and end later, but the
part of it inside a past period is fixed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Q

from controlplane.core.errors import Conflict
from plans.invoicing import agreed_terms, billing_inputs, pinned_sellers
from plans.invoicing.agreed_terms import Agreed
from plans.invoicing.billing_inputs import KnownLifetimes, SpaceFact
from plans.invoicing.pinned_sellers import PinnedSeller
from plans.models import PlanSubscription
from plans.rating.billable import Lifetime, Segment
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.rating.pricing import SellerRule
from plans.rating.taxes import TaxRule
from plans.rating.terms import Terms
from tenants.models import Tenant

# Raise it whenever equal inputs may give other bytes. The manifest stores the version that made a
# document. ``engines`` has every version whose invoices can be verified.
ENGINE_VERSION = "5"
# Engines whose corrections bear the tax of the invoice that carries them.
CORRECTIONS_AT_OWN_TAX = frozenset({"3", "4"})


class NoSubscription(Conflict):
    """The tenant had no plan in the period, so nothing can be priced."""

    code = "invoice.no_plan"


@dataclass(frozen=True)
class Correction:
    """A month to price again with today's usage; ``before`` is the state that was billed.

    ``number`` is the number of the month's last issued invoice. ``n`` counts the corrections of the
    month from 1. ``tax`` is the tax of the invoice ``number``; None: it is that of the invoice that
    corrects. Engines 3 and 4 knew the latter only.
    """

    month: Period
    number: str
    n: int
    before: MonthSoFar
    tax: TaxRule | None = None

    def plain(self) -> dict[str, Any]:
        """Return all fields but ``before`` as JSON values, for documents and manifests."""
        return {
            "month_starts_at": self.month.starts_at.isoformat(),
            "month_ends_at": self.month.ends_at.isoformat(),
            "number": self.number,
            "n": self.n,
            **({"tax": self.tax.plain()} if self.tax else {}),
        }


@dataclass(frozen=True)
class Facts:
    """All inputs of an invoice except usage: the ``usage`` of each segment is empty.

    ``month`` is the billing month that contains ``period``, ``so_far`` its state before the period.
    ``corrections`` are the months whose usage has changed since it was billed; one may be ``month``
    itself, for its earlier part. ``tax`` is what an exemption or the countries of both parties
    decided; None: the seller's one rate. ``engine`` is the version of the pricing engine.
    """

    tenant_id: str
    period: Period
    month: Period
    time_zone: str
    buyer: Mapping[str, str]
    seller: Mapping[str, str]
    legal_entity: str
    seller_rule: SellerRule
    payment_days: int
    catalogue_number: int
    segments: tuple[Segment, ...]
    lifetimes: tuple[Lifetime, ...]
    known_lifetimes: KnownLifetimes
    so_far: MonthSoFar = field(default_factory=MonthSoFar)
    corrections: tuple[Correction, ...] = ()
    terms: Terms = field(default_factory=Terms)
    tax: TaxRule | None = None
    engine: str = ENGINE_VERSION

    @property
    def spaces(self) -> tuple[SpaceFact, ...]:
        return self.known_lifetimes.spaces

    def space_names(self) -> dict[str, str]:
        return {space.id: space.name for space in self.spaces}


@dataclass(frozen=True)
class Frozen:
    """The facts that an existing invoice pins in its document and manifest.

    ``gather`` uses these in place of the present values of rows.
    """

    buyer: Mapping[str, str]
    seller: PinnedSeller
    time_zone: str
    known_lifetimes: KnownLifetimes
    so_far: MonthSoFar
    corrections: tuple[Correction, ...]
    terms: Terms
    tax: TaxRule | None
    engine: str

    @property
    def pinned(self) -> tuple[PinnedSeller, KnownLifetimes, TaxRule | None, Terms]:
        """What ``gather`` reads from rows without ``Frozen``: seller, lifetimes, tax and terms."""
        return self.seller, self.known_lifetimes, self.tax, self.terms


@dataclass(frozen=True)
class TenantRows:
    """The rows of one tenant from which ``gather`` makes the facts of a period."""

    subscriptions: Sequence[PlanSubscription]
    lifetimes: KnownLifetimes
    agreed: Agreed
    seller: PinnedSeller

    @classmethod
    def read_each(
        cls, tenants: Sequence[Tenant], period: Period, until: datetime | None = None
    ) -> "dict[str, TenantRows]":
        """Read the rows of each tenant in the same number of queries for any number of them.

        Returns them by the tenant's id. Time after ``until`` does not count.
        """
        lifetimes = KnownLifetimes.read_each(tenants, period, until)
        agreed = Agreed.read_each(tenants, period)
        subscriptions = subscriptions_of(tenants, period)
        sellers = pinned_sellers.sellers_of(tenants)
        return {
            id: cls(subscriptions[id], lifetimes[id], agreed[id], sellers[id]) for id in lifetimes
        }


def gather(
    tenant: Tenant,
    period: Period,
    *,
    until: datetime | None = None,
    frozen: Frozen | None = None,
    rows: TenantRows | None = None,
) -> Facts:
    """Return the facts of a tenant's period, read from rows and from ``frozen``.

    The time of spaces and addresses after ``until`` does not count; a preview passes the present.
    ``rows`` are the tenant's rows if the caller has read them already.
    Without ``frozen``, ``so_far`` and ``corrections`` are empty: callers set both.

    Raises:
        NoSubscription: no plan was in force in any part of the period.
        NotPriced: a plan version has no prices in the currency of the invoice.
        Unavailable: no catalog is published.
    """
    time_zone = frozen.time_zone if frozen else tenant.billing_time_zone
    month = month_of(period.starts_at, time_zone)
    if frozen:
        seller, found, tax, terms = frozen.pinned
        # Read from rows all the same: the part of a subscription in a past period is fixed.
        subscriptions: Iterable[PlanSubscription] = subscriptions_of([tenant], period)[tenant.id]
    else:
        mine = rows or TenantRows.read_each([tenant], period, until)[tenant.id]
        seller, found, subscriptions = mine.seller, mine.lifetimes, mine.subscriptions
        tax = agreed_terms.tax_of(tenant, mine.agreed, seller.vat_country, period, time_zone)
        terms = agreed_terms.of_month(mine.agreed, month, seller.rule.currency)
    return Facts(
        tenant_id=tenant.id,
        period=period,
        month=month,
        time_zone=time_zone,
        buyer=frozen.buyer if frozen else buyer_of(tenant),
        seller=seller.printed,
        legal_entity=seller.key,
        seller_rule=seller.rule.taxed(tax) if tax else seller.rule,
        payment_days=seller.payment_days,
        catalogue_number=seller.catalogue_number,
        segments=segments_of(subscriptions, period, seller.rule.currency),
        lifetimes=found.lifetimes(seller.rule.currency),
        known_lifetimes=found,
        so_far=frozen.so_far if frozen else MonthSoFar(),
        corrections=frozen.corrections if frozen else (),
        terms=terms,
        tax=tax,
        engine=frozen.engine if frozen else ENGINE_VERSION,
    )


def buyer_of(tenant: Tenant) -> dict[str, str]:
    """Return the tenant's billing details of now, by the keys that invoice documents use."""
    # These are keys of the stored invoice documents: never rename them.
    return {
        "organisation": tenant.name,
        "name": tenant.billing_name,
        "email": tenant.billing_email,
        "address": tenant.billing_address,
        "country": tenant.billing_country,
        "tax_id": tenant.tax_id,
    }


def subscriptions_of(
    tenants: Sequence[Tenant], period: Period
) -> dict[str, list[PlanSubscription]]:
    """Return the subscriptions of each tenant in the period, in order of time, in one query."""
    rows = (
        PlanSubscription.objects.filter(tenant__in=tenants, starts_at__lt=period.ends_at)
        .filter(Q(ends_at__isnull=True) | Q(ends_at__gt=period.starts_at))
        .select_related("plan")
        .order_by("starts_at")
    )
    found: dict[str, list[PlanSubscription]] = {tenant.id: [] for tenant in tenants}
    for row in rows:
        found[row.tenant_id].append(row)
    return found


def segments_of(
    subscriptions: Iterable[PlanSubscription], period: Period, currency: str
) -> tuple[Segment, ...]:
    """Return a segment for the part of each subscription inside the period, in order of time.

    The segments have no usage yet.

    Raises:
        NoSubscription: the tenant had no plan in the period.
        NotPriced: a plan version has no prices in ``currency``.
    """
    found = []
    for subscription in subscriptions:
        span = period.clip(subscription.starts_at, subscription.ends_at)
        if span is not None:
            ends_at = subscription.ends_at
            # A plan that is still in force at the end of the period includes units for the rest of
            # the month, too.
            runs_on = ends_at is None or ends_at > period.ends_at
            segment = billing_inputs.segment(subscription.plan, span, currency, runs_on=runs_on)
            trial = span.clip(None, subscription.trial_ends_at) if (
                subscription.trial_ends_at) else None  # fmt: skip
            found.append(replace(segment, trial_seconds=trial.seconds if trial else 0))
    if not found:
        raise NoSubscription(
            "The tenant had no plan in any part of this period, so there is nothing to charge. "
            "No plan can begin in the past: leave a held invoice as it is."
        )
    return tuple(found)
