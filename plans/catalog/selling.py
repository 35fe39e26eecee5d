"""Finds who sells to a tenant, and in which currency; assigns a seller to a tenant.

A catalog has one or more selling legal entities, and each sells in one or more currencies. A tenant
without an assignment buys from the main seller, in its main currency.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.core.errors import Invalid
from plans.catalog import kept_sellers, publishing
from plans.catalog.definitions import Catalog, Seller
from plans.models import SellerAssignment


@dataclass(frozen=True)
class Offer:
    """A seller of the catalog with one of its currencies, from which a tenant may buy."""

    seller: Seller
    currency: str

    @property
    def value(self) -> str:
        """The offer as one word, such as ``waypost-inc:USD``, for a field of a form."""
        return f"{self.seller.key}:{self.currency}"

    @property
    def title(self) -> str:
        return f"{self.seller.name}, in {self.currency}"


def offers(catalog: Catalog | None = None) -> list[Offer]:
    """Return everything that a tenant may choose from, the main seller in its currency first.

    ``catalog`` is by default the newest one.

    Raises:
        Missing: no catalog is published.
    """
    sold = catalog or publishing.current()
    return [Offer(row, currency) for row in sold.sellers for currency in row.currencies]


def offer(legal_entity: str, currency: str, catalog: Catalog | None = None) -> Offer:
    """Return the offer of a seller and a currency.

    An empty ``legal_entity`` is the main seller, an empty ``currency`` the seller's main one.

    Raises:
        Invalid: no seller of the newest catalog has this key, or it does not sell in the currency.
        Missing: no catalog is published.
    """
    known = offers(catalog)
    wanted = legal_entity or known[0].seller.key
    found = [one for one in known if one.seller.key == wanted and currency in ("", one.currency)]
    if not found:
        choice = ", ".join(one.value for one in known)
        raise Invalid(
            f"No seller of the catalog is {wanted}{f' in {currency}' if currency else ''}. "
            f"Choose one of: {choice}.",
            code="seller.unknown",
            legal_entity=[f"Choose one of: {choice}."],
        )
    return found[0]


def of_tenant(tenant_id: str, catalog: Catalog | None = None) -> Offer:
    """Return the seller and the currency of a tenant now.

    Raises:
        Missing: no catalog is published.
    """
    return of_each([tenant_id], catalog)[tenant_id]


def of_each(tenant_ids: Sequence[str], catalog: Catalog | None = None) -> dict[str, Offer]:
    """Return the offer of each tenant now, by its id, as ``of_tenant`` does; in one query.

    ``catalog`` is by default the newest one, which takes another query.
    """
    sold = catalog or publishing.current()
    rows = SellerAssignment.objects.filter(tenant_id__in=tenant_ids)
    assigned = {row.tenant_id: offer(row.legal_entity, row.currency, sold) for row in rows}
    main = offers(sold)[0]
    return {id: assigned.get(id, main) for id in tenant_ids}


def currency_of(tenant_id: str) -> str:
    """Return the currency of a tenant's invoices; raise Missing as ``of_tenant`` does."""
    row = SellerAssignment.objects.filter(tenant_id=tenant_id).values_list("currency", flat=True)
    return row.first() or publishing.current().seller.currency


def assign(tenant_id: str, wanted: Offer, by: str) -> SellerAssignment:
    """Store the seller of a tenant in place of an earlier one. Call it in a transaction.

    ``by`` is the name of the actor. A trigger refuses another seller or currency for a tenant that
    has an assignment and an issued invoice.

    Raises:
        Invalid: the newest catalog, which may be published meanwhile, lacks this offer.
    """
    kept_sellers.together()
    wanted = offer(wanted.seller.key, wanted.currency)  # again: the lock keeps this offer
    values: dict[str, Any] = {
        "legal_entity": wanted.seller.key,
        "currency": wanted.currency,
        "assigned_by": by,
    }
    row, _ = SellerAssignment.objects.update_or_create(tenant_id=tenant_id, defaults=values)
    return row
