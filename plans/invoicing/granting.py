"""Grants credit to tenants, pays prepaid credit back, and books what expires. Staff only.

Issuing an invoice uses the credit (``issuing``). Prepaid credit was paid: granting it debits cash.
Promotional credit is an expense of the seller when it is granted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.invoicing import pinned_sellers
from plans.ledger import grants, posting
from plans.models import CreditGrant, CreditUse, InvoiceNumberSeries
from plans.rating import money
from plans.rating.credits import PREPAID, PROMOTIONAL
from tenants.models import Tenant
from tenants.notifications import outbox

_PAY_BACK = "credit_pay_back"  # begins the reference of the entry in the ledger


class ReferenceReused(Conflict):
    """The tenant has a grant with this reference already, of another kind or amount."""

    code = "credit_grant.reference_reused"


class NotPrepaid(Conflict):
    """Promotional credit cannot be paid back: nobody paid for it."""

    code = "credit_grant.not_prepaid"


class TooMuch(Conflict):
    """More is to be paid back than is left of the credit."""

    code = "credit_grant.too_much"


@dataclass(frozen=True)
class Wish:
    """Credit to grant: ``kind`` is promotional or prepaid, the amount is in minor units.

    ``reference`` identifies the grant of the tenant, such as the bank's reference.
    """

    kind: str
    amount_minor: int
    reference: str
    reason: str
    expires_at: datetime | None = None


@dataclass(frozen=True)
class PayBack:
    """Prepaid credit to pay back, in minor units. ``reference`` is that of the bank transfer."""

    amount_minor: int
    reference: str
    reason: str


def grant(*, tenant: Tenant, wish: Wish, by: Actor, now: datetime | None = None) -> CreditGrant:
    """Grant credit in the currency of the tenant's seller, and book it; return the row.

    Idempotent: the same reference, kind and amount return the existing grant.

    Raises:
        Invalid: the amount, the kind, the reference, the reason or the expiry is wrong.
        ReferenceReused: the reference belongs to a grant of another kind or amount, or to one that
            was paid back.
        Unavailable: no catalog is published.
    """
    instant = (now or timezone.now()).replace(microsecond=0)
    _check(wish, instant)
    seller = pinned_sellers.seller_of(tenant)
    with transaction.atomic():
        _lock(seller.key)
        # Under the lock, so that two requests with one reference grant once.
        if (known := _known(tenant, wish)) is not None:
            return known
        held = grants.account(wish.kind, seller.key)
        paid_by = posting.CASH_CLEARING if wish.kind == PREPAID else posting.PROMOTION
        entry = posting.post(
            posting.Booking(
                f"credit_grant:{tenant.pk}:{wish.reference}",
                tenant.pk,
                seller.rule.currency,
                f"{wish.kind.capitalize()} credit {wish.reference}",
                {paid_by: wish.amount_minor, held: -wish.amount_minor},
                seller.key,
            ),
            at=instant,
        )
        made = CreditGrant.objects.create(
            tenant=tenant,
            legal_entity=seller.key,
            currency=seller.rule.currency,
            **{name: getattr(wish, name) for name in
               ("kind", "amount_minor", "reference", "reason", "expires_at")},
            granted_at=instant,
            granted_by=by.name,
            entry=entry,
        )  # fmt: skip
        _record(by, "credit.grant", made, wish.reason)
    return made


def _known(tenant: Tenant, wish: Wish) -> CreditGrant | None:
    """Return the grant of the tenant that has the wish's reference already.

    Raises:
        ReferenceReused: it is of another kind or amount, or was paid back.
    """
    known = CreditGrant.objects.filter(tenant=tenant, reference=wish.reference).first()
    if known is None:
        return None
    if (known.kind, known.amount_minor) != (wish.kind, wish.amount_minor):
        raise ReferenceReused(f"{wish.reference} is the reference of another grant: use a new one.")
    # Who asks again may mean a new grant, so this one, of which less is left, is no answer.
    if known.uses.filter(entry__reference__startswith=f"{_PAY_BACK}:").exists():
        raise ReferenceReused(f"{wish.reference} was granted and paid back: use a new reference.")
    return known


def pay_back(
    *, tenant: Tenant, grant_id: str, wish: PayBack, by: Actor, now: datetime | None = None
) -> CreditGrant:
    """Book that prepaid credit goes back to the tenant; return its grant.

    No provider sends money: staff make the bank transfer. An event tells the customer. Idempotent:
    the same grant, reference and amount are booked once.

    Raises:
        Missing: the tenant has no such grant.
        Invalid: amount, reference or reason is wrong.
        NotPrepaid: the credit is promotional.
        ReferenceReused: the reference belongs to another amount of this grant.
        TooMuch: more than is left, or the credit has ended.
    """
    instant = (now or timezone.now()).replace(microsecond=0)
    _require(_problems(wish.amount_minor, {"reference": wish.reference, "reason": wish.reason}))
    row = CreditGrant.objects.filter(tenant=tenant, pk=grant_id).first()
    if row is None:
        raise Missing("There is no such credit.", code="credit_grant.missing")
    if row.kind != PREPAID:
        raise NotPrepaid("Promotional credit is a gift. Only prepaid credit is paid back.")
    reference = f"{_PAY_BACK}:{row.pk}:{wish.reference}"
    with transaction.atomic():
        _lock(row.legal_entity)
        # Under the lock, so that two requests with one reference pay back once.
        known = CreditUse.objects.filter(grant=row, entry__reference=reference).first()
        if known is not None:
            if known.amount_minor != wish.amount_minor:
                raise ReferenceReused(
                    f"{wish.reference} paid another amount of this credit back: use a new one."
                )
            return row
        has_ended = row.expires_at is not None and row.expires_at <= instant
        left = 0 if has_ended else _left(row)
        if wish.amount_minor > left:
            raise TooMuch(
                f"Only {money.display(left, row.currency)} of this credit can be paid back.",
                left_minor=left,
            )
        text = f"Prepaid credit {row.reference} is paid back: {wish.reference}"
        _take(row, wish.amount_minor, posting.CASH_CLEARING, reference, text, instant)
        _record(by, "credit.pay_back", row, wish.reason, wish.amount_minor)
        _notify(row, wish, reference, instant)
    return row


def _notify(row: CreditGrant, wish: PayBack, key: str, now: datetime) -> None:
    outbox.write(
        "credit.paid_back",
        tenant=row.tenant,
        key=key,
        fields={
            "grant": row.reference,
            "amount": money.display(wish.amount_minor, row.currency),
            "reference": wish.reference,
            "reason": wish.reason,
        },
        now=now,
    )


def expire(*, by: Actor, now: datetime | None = None) -> list[str]:
    """Book what is left of expired grants; return the ids of these grants.

    Prepaid credit becomes breakage, promotional credit reduces the promotion expense. Idempotent;
    one transaction for each grant. Credit pays nothing from its expiry on, booked or not.
    """
    instant = now or timezone.now()
    booked = []
    expired = CreditGrant.objects.filter(expires_at__lte=instant)
    # A grant of which nothing is left needs no lock.
    used = Coalesce(Sum("uses__amount_minor"), 0)
    for row in expired.annotate(used=used).filter(used__lt=F("amount_minor")).order_by("pk"):
        with transaction.atomic():
            _lock(row.legal_entity)
            # Read again: until the lock was free, an invoice may have used what was left.
            left = _left(row)
            if left:
                gained = posting.BREAKAGE if row.kind == PREPAID else posting.PROMOTION
                text = f"Expiry of {row.kind} credit {row.reference}"
                _take(row, left, gained, f"credit_expiry:{row.pk}", text, instant)
                _record(by, "credit.expire", row, "the time of the credit is over")
                booked.append(row.pk)
    return booked


def _left(row: CreditGrant) -> int:
    """Return what no invoice, pay-back or end has taken from the grant yet."""
    found = grants.available(row.tenant_id, row.legal_entity, row.currency)
    return next((one.left_minor for one in found if one.id == row.pk), 0)


def _take(
    row: CreditGrant, amount: int, to: str, reference: str, text: str, instant: datetime
) -> None:
    """Book ``amount`` of the grant to the account ``to``, for another reason than an invoice."""
    entry = posting.post(
        posting.Booking(
            reference,
            row.tenant_id,
            row.currency,
            text,
            {grants.account(row.kind, row.legal_entity): amount, to: -amount},
            row.legal_entity,
        ),
        at=instant,
    )
    CreditUse.objects.create(grant=row, entry=entry, amount_minor=amount)


def _check(wish: Wish, now: datetime) -> None:
    texts = {"reference": wish.reference, "reason": wish.reason}
    wrong = _problems(wish.amount_minor, texts)
    if wish.kind not in (PROMOTIONAL, PREPAID):
        wrong["kind"] = [f"One of {PROMOTIONAL} and {PREPAID}."]
    if wish.expires_at is not None and wish.expires_at <= now:
        wrong["expires_at"] = ["An instant in the future, or none."]
    _require(wrong)


def _problems(amount_minor: int, texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what is wrong with an amount and with texts that must not be empty, by name."""
    wrong = {name: ["It must not be empty."] for name, text in texts.items() if not text.strip()}
    if amount_minor <= 0:
        wrong["amount_minor"] = ["A positive amount in minor units."]
    return wrong


def _require(wrong: dict[str, list[str]]) -> None:
    if wrong:
        raise Invalid(
            f"The credit is not valid: {', '.join(sorted(wrong))}.",
            code="credit_grant.invalid",
            **wrong,
        )


def _lock(legal_entity: str) -> None:
    # Every posting to an account of credit needs this lock (``plans.ledger.grants``). The row may
    # be missing, because credit may be granted before the first invoice.
    InvoiceNumberSeries.objects.get_or_create(legal_entity=legal_entity)
    InvoiceNumberSeries.objects.select_for_update().get(pk=legal_entity)


def _record(by: Actor, action: str, row: CreditGrant, reason: str, amount: int = 0) -> None:
    after: dict[str, Any] = {
        "kind": row.kind,
        "amount_minor": amount or row.amount_minor,
        "currency": row.currency,
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
    }
    subject = audit.Subject("credit_grant", row.pk, row.reference, row.tenant_id)
    audit.record(by, action, subject, after=after, reason=reason)
