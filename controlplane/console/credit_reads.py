"""Reads a tenant's credit, discounts, commitments, trial and tax for its page and for staff."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plans.catalog import selling
from plans.catalog.definitions import Seller
from plans.invoicing import agreed_terms, agreements
from plans.ledger import grants, movements
from plans.models import Commitment, CreditGrant, Discount, TaxExemption, TaxIdCheck
from plans.rating import money
from plans.rating.taxes import Regime
from plans.rating.vat_ids import Status
from tenants.models import Tenant

_TAX_ID_WORDS = {
    Status.NONE: "No tax id is given.",
    Status.NOT_CHECKED: "Its form is not checked: the billing country is outside the EU.",
    Status.VALID: "It has the form of a VAT id of the billing country.",
    Status.INVALID: "It does not have the form of a VAT id of the billing country",
    Status.OTHER_COUNTRY: "It is a VAT id of another country than the billing country",
    Status.REFUSED: "The register of VAT ids does not know it",
}


@dataclass(frozen=True)
class GrantRow:
    """A grant of credit; ``state`` is ``available``, ``expired`` or ``used up``."""

    grant: CreditGrant
    left_minor: int
    state: str


def credit(tenant: Tenant, now: datetime) -> dict[str, Any]:
    """Return ``offer``, ``balances``, ``grants``, ``progress``, ``gauge``, ``trial`` of a tenant.

    ``progress`` and ``gauge`` are None without a commitment in the running month, ``trial`` without
    a trial.
    """
    offer = selling.of_tenant(tenant.pk)
    progress = agreements.progress(tenant, now)
    return {
        "offer": offer,
        "balances": movements.balances(tenant.pk, now, [(offer.seller.key, offer.currency)]),
        "grants": _grants(tenant, now),
        "progress": progress,
        "gauge": _gauge(progress) if progress else None,
        "trial": agreements.trial(tenant, now),
    }


def _grants(tenant: Tenant, now: datetime) -> list[GrantRow]:
    found = []
    for row in grants.listed(tenant.pk):
        left: int = row.left_minor  # type: ignore[attr-defined]  # an annotation
        is_over = row.expires_at is not None and row.expires_at <= now
        state = "used up" if not left else "expired" if is_over else "available"
        found.append(GrantRow(row, left, state))
    return found


def returnable(tenant: Tenant, now: datetime) -> list[GrantRow]:
    """Return the prepaid credit of the tenant that can be paid back."""
    return [
        row
        for row in _grants(tenant, now)
        if row.grant.kind == CreditGrant.Kind.PREPAID and row.state == "available"
    ]


def _gauge(progress: agreements.Progress) -> dict[str, Any]:
    """Return the values of the template ``parts/gauge.html``."""
    reached, minimum = (
        money.display(amount, progress.currency)
        for amount in (progress.reached_minor, progress.minimum_minor)
    )
    return {
        "title": "Toward the minimum of this month",
        "words": f"{reached} of {minimum}",
        "percent": progress.percent,
        "width": progress.percent,
        "level": "good",
    }


def discounts(tenant: Tenant) -> Sequence[Discount]:
    """Return all discounts of a tenant, ended ones too, the newest first."""
    rows = Discount.objects.filter(tenant=tenant).select_related("coupon")
    return list(rows.order_by("-starts_at", "-created_at"))


def commitments(tenant: Tenant) -> Sequence[Commitment]:
    """Return all commitments of a tenant, ended ones too, the newest first."""
    return list(Commitment.objects.filter(tenant=tenant).order_by("-starts_at", "-created_at"))


def tax_id_words(tenant: Tenant) -> str:
    """Return whether the tenant's tax id is right, and what that means for its invoices."""
    words = _TAX_ID_WORDS[agreed_terms.tax_id_status(tenant)]
    if words.endswith("."):
        return words
    seller = selling.of_tenant(tenant.pk).seller
    if seller.tax_regime == Regime.FLAT:
        return f"{words}. Invoices charge {_percent(seller)} % tax with any tax id, and without."
    return f"{words}, so invoices charge VAT."


def tax_words(seller: Seller) -> str:
    """Return what decides the tax of the seller's invoices."""
    if seller.tax_regime == Regime.FLAT:
        return (
            f"{_percent(seller)} %, unless a certificate exempts the buyer. Countries and tax id "
            "do not count (tax regime flat)."
        )
    return "The countries of seller and buyer, the tax id and certificates decide (tax regime vat)."


def answer_words(seller: Seller) -> str:
    """Return what the answer of the register of VAT ids means for the seller's invoices."""
    if seller.tax_regime == Regime.FLAT:
        return (
            f"The answer changes no tax: invoices charge {_percent(seller)} % with any tax id, and "
            "without (tax regime flat)."
        )
    return "If it does not know the id, invoices charge VAT."


def _percent(seller: Seller) -> str:
    return f"{seller.tax_percent.normalize():f}"


def tax(tenant: Tenant) -> dict[str, Any]:
    """Return what is known of a tenant's tax id, and its certificates of exemption."""
    checks = TaxIdCheck.objects.filter(tenant=tenant).order_by("-pk")
    return {
        "tax_id_words": tax_id_words(tenant),
        "checks": checks[:20],
        # An answer of the register says nothing about a tax id that came later.
        "confirmed": checks.exclude(confirmed_by="").filter(tax_id=tenant.tax_id).first(),
        "exemptions": TaxExemption.objects.filter(tenant=tenant).order_by("-starts_on", "-pk"),
    }
