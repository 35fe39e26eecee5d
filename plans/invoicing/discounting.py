"""Creates coupons, and gives tenants discounts and minimum commitments. ``ending`` ends them.

Staff create coupons, discounts and commitments. A member who manages a tenant's billing redeems a
coupon, once for the tenant. An invoice is priced with what is in force in its month
(``agreed_terms``). Amounts of discounts and commitments are in the currency of the tenant's
invoices.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.catalog import publishing, selling
from plans.models import Commitment, Coupon, Discount
from plans.rating.month_price import FEE
from plans.rating.periods import Period, month_of
from plans.usage import meters
from tenants.models import Tenant


class CouponUsedUp(Conflict):
    """As many tenants as the coupon allows have redeemed it, or its time is over."""

    code = "coupon.used_up"


class CouponCurrency(Conflict):
    """The coupon is an amount in another currency than that of the tenant's invoices."""

    code = "coupon.currency"


class CouponRedeemed(Conflict):
    """The tenant has redeemed this coupon before."""

    code = "coupon.redeemed"


@dataclass(frozen=True)
class Reduction:
    """How much cheaper a month gets: exactly one of ``percent`` and ``amount_minor`` is set.

    ``meters`` are the meters whose lines get cheaper, ``plan_fee`` among them; empty: all.
    ``months`` is for how many billing months, the running one included; None: for ever.
    """

    title: str
    percent: Decimal | None = None
    amount_minor: int | None = None
    meters: list[str] = field(default_factory=list)
    months: int | None = None


@dataclass(frozen=True)
class CouponUse:
    """Who may redeem a coupon: at most ``limit`` tenants, before ``expires_at``; None: no limit.

    ``currency`` is the one of an amount; empty: that of the main seller.
    """

    limit: int | None = None
    expires_at: datetime | None = None
    currency: str = ""


def create_coupon(
    *,
    code: str,
    reduction: Reduction,
    by: Actor,
    use: CouponUse | None = None,
    reason: str = "",
) -> Coupon:
    """Create a coupon. An amount counts for tenants with invoices in the currency of ``use``.

    Raises:
        Invalid: the code is taken or empty, the reduction is wrong, or no seller of the catalog
            sells in the currency.
        Missing: no catalog is published.
    """
    checked(reduction)
    allowed = use or CouponUse()
    known = publishing.current().currencies
    if allowed.currency not in ("", *known):
        raise Invalid(
            f"No seller sells in {allowed.currency}: choose one of {', '.join(known)}.",
            code="coupon.currency_unknown",
            currency=[f"Choose one of: {', '.join(known)}."],
        )
    # In capitals, as ``redeem`` looks for it: people may type a code in any case.
    wanted = code.strip().upper()
    if not wanted:
        raise _code_refused()
    with transaction.atomic():
        values = {
            **asdict(reduction),
            # A percentage counts in any currency.
            "currency": "" if reduction.amount_minor is None else allowed.currency or known[0],
            "limit": allowed.limit,
            "expires_at": allowed.expires_at,
            "created_by": by.name,
        }
        # Of two requests at once, the second waits here and then finds the coupon of the first.
        row, is_new = Coupon.objects.get_or_create(code=wanted, defaults=values)
        if not is_new:
            raise _code_refused()
        subject = audit.Subject("coupon", wanted, row.title)
        after = {**_written(row), "months": row.months, "limit": row.limit}
        if row.expires_at:
            after["expires_at"] = row.expires_at.isoformat()
        audit.record(by, "coupon.create", subject, after=_without_empty(after), reason=reason)
    return row


def redeem(*, tenant: Tenant, code: str, by: Actor, now: datetime | None = None) -> Discount:
    """Give the tenant the discount of a coupon, from the running billing month on.

    Raises:
        Missing: there is no such coupon.
        CouponRedeemed, CouponUsedUp, CouponCurrency: as named.
    """
    instant = now or timezone.now()
    with transaction.atomic():
        # The lock makes redemptions of one coupon wait for each other, so the limit holds.
        coupon = Coupon.objects.select_for_update().filter(code=code.strip().upper()).first()
        if coupon is None:
            raise Missing("There is no such coupon: check its code.", code="coupon.missing")
        if coupon.redemptions.filter(tenant=tenant).exists():
            raise CouponRedeemed("Your organization has redeemed this coupon before.")
        is_over = coupon.expires_at is not None and coupon.expires_at <= instant
        if is_over or (coupon.limit is not None and coupon.redemptions.count() >= coupon.limit):
            raise CouponUsedUp("This coupon cannot be redeemed any more.")
        if coupon.currency not in ("", selling.currency_of(tenant.pk)):
            raise CouponCurrency(
                f"This coupon is an amount in {coupon.currency}, and your invoices are in another "
                "currency."
            )
        reduction = Reduction(
            coupon.title, coupon.percent, coupon.amount_minor, coupon.meters, coupon.months
        )
        return _discount(tenant, reduction, by, instant, coupon=coupon)


def give(
    *,
    tenant: Tenant,
    reduction: Reduction,
    by: Actor,
    now: datetime | None = None,
    reason: str = "",
) -> Discount:
    """Give the tenant a discount from the running billing month on.

    Raises:
        Invalid: the reduction is wrong.
    """
    checked(reduction)
    with transaction.atomic():
        return _discount(tenant, reduction, by, now or timezone.now(), reason=reason)


def commit(
    *,
    tenant: Tenant,
    title: str,
    minimum_minor: int,
    span: Period | None,
    by: Actor,
    reason: str = "",
) -> Commitment:
    """Record that the tenant pays at least ``minimum_minor`` a month, before tax, over ``span``.

    Without ``span`` the commitment begins with the running billing month and does not end.

    Raises:
        Invalid: the title is empty or the minimum not positive.
    """
    if not title.strip() or minimum_minor <= 0:
        raise Invalid(
            "A commitment needs a title and a positive amount in minor units.",
            code="commitment.invalid",
        )
    starts_at = span.starts_at if span else month_of(
        timezone.now(), tenant.billing_time_zone).starts_at  # fmt: skip
    with transaction.atomic():
        row = Commitment.objects.create(
            tenant=tenant,
            title=title.strip(),
            minimum_minor=minimum_minor,
            currency=selling.currency_of(tenant.pk),
            starts_at=starts_at,
            ends_at=span.ends_at if span else None,
            created_by=by.name,
        )
        subject = audit.Subject("commitment", row.pk, row.title, tenant.pk)
        after = {"minimum_minor": minimum_minor, "currency": row.currency, **_span(row)}
        audit.record(by, "commitment.agree", subject, after=after, reason=reason)
    return row


def checked(reduction: Reduction) -> Reduction:
    """Return ``reduction``; raise Invalid if it is wrong, naming the wrong fields."""
    wrong: dict[str, list[str]] = {}
    percent, amount = reduction.percent, reduction.amount_minor
    if (percent is None) == (amount is None):
        wrong["percent"] = ["Give either percent or amount_minor."]
    elif percent is not None and not 0 < percent <= 100:
        wrong["percent"] = ["A number above 0, at most 100."]
    elif amount is not None and amount <= 0:
        wrong["amount_minor"] = ["A positive amount in minor units."]
    if not reduction.title.strip():
        wrong["title"] = ["It must not be empty: invoices print it."]
    if reduction.months is not None and reduction.months < 1:
        wrong["months"] = ["At least 1, or none."]
    if unknown := sorted(set(reduction.meters) - known_meters()):
        wrong["meters"] = [f"Unknown: {', '.join(unknown)}."]
    if wrong:
        raise Invalid(
            f"The discount is not valid: {', '.join(sorted(wrong))}.",
            code="discount.invalid",
            **wrong,
        )
    return reduction


def known_meters() -> set[str]:
    """Return the names of everything that a line of an invoice can be about."""
    names: Iterable[str] = (FEE, *meters.METERS, *meters.DERIVED, *meters.LIFETIMES)
    return set(names)


def _code_refused() -> Invalid:
    return Invalid("Give the coupon a code that no other one has.", code="coupon.code")


def _written(row: Coupon | Discount) -> dict[str, Any]:
    return {
        "title": row.title,
        "percent": None if row.percent is None else f"{row.percent.normalize():f}",
        "amount_minor": row.amount_minor,
        "currency": row.currency,
        "meters": row.meters,
    }


def _span(row: Discount | Commitment) -> dict[str, str | None]:
    return {
        "starts_at": row.starts_at.isoformat(),
        "ends_at": row.ends_at.isoformat() if row.ends_at else None,
    }


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _discount(
    tenant: Tenant,
    reduction: Reduction,
    by: Actor,
    now: datetime,
    *,
    coupon: Coupon | None = None,
    reason: str = "",
) -> Discount:
    month = month_of(now, tenant.billing_time_zone)
    ends_at = None
    if reduction.months is not None:
        last = month
        for _ in range(reduction.months - 1):
            last = month_of(last.ends_at + timedelta(seconds=1), tenant.billing_time_zone)
        ends_at = last.ends_at
    given = {name: value for name, value in asdict(reduction).items() if name != "months"}
    row = Discount.objects.create(
        tenant=tenant,
        coupon=coupon,
        **given,
        # A percentage counts in any currency.
        currency="" if reduction.amount_minor is None else selling.currency_of(tenant.pk),
        # From the start of the month, because a discount counts for all of a month or not at all.
        starts_at=month.starts_at,
        ends_at=ends_at,
        created_by=by.name,
    )
    after = {
        "coupon": coupon.code if coupon else "",
        **_written(row),
        "months": reduction.months,
        **_span(row),
    }
    audit.record(
        by,
        "coupon.redeem" if coupon else "discount.give",
        audit.Subject("discount", row.pk, row.title, tenant.pk),
        after=_without_empty(after),
        reason=reason,
    )
    return row
