"""Reads the selling legal entity of invoices from versions of the catalog, which never change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from controlplane.core.errors import Missing, Unavailable
from plans.catalog import definitions, publishing, selling
from plans.catalog.definitions import Catalog, Seller
from plans.invoicing.read_once import read_once
from plans.rating.money import Rounding
from plans.rating.pricing import SellerRule
from plans.rating.taxes import Regime
from tenants.models import Tenant


@dataclass(frozen=True)
class PinnedSeller:
    """The selling legal entity as one catalog version defines it.

    ``printed`` are the details that invoices show. ``payment_days`` is the time from the issue of
    an invoice to its due date.
    """

    key: str
    rule: SellerRule
    printed: Mapping[str, str]
    payment_days: int
    catalogue_number: int
    country: str
    is_under_vat: bool  # taxed by the countries of both parties, not at the seller's one rate

    @property
    def vat_country(self) -> str:
        """The country whose VAT applies; empty for a seller that taxes at its one rate."""
        return self.country if self.is_under_vat else ""

    @property
    def owner(self) -> tuple[str, str]:
        """The legal entity and the currency, which together own credit."""
        return self.key, self.rule.currency


def sellers_of(tenants: Sequence[Tenant]) -> dict[str, PinnedSeller]:
    """Return who sells to each tenant by the newest catalog, by the tenant's id.

    Each is in the currency of the tenant's invoices. Two queries for any number of tenants.

    Raises:
        Unavailable: no catalog is published.
    """
    number, catalog = _newest_catalog()
    found = selling.of_each([tenant.pk for tenant in tenants], catalog)
    return {id: _pinned(offer.seller, number, offer.currency) for id, offer in found.items()}


def seller_of(tenant: Tenant) -> PinnedSeller:
    """Return who sells to one tenant, as ``sellers_of`` does."""
    return sellers_of([tenant])[tenant.pk]


@read_once
def _newest_catalog() -> tuple[int, Catalog]:
    newest = publishing.newest_version()
    if newest is None:
        raise Unavailable("No catalog is published: run `waypost catalog publish`.")
    return newest.number, definitions.from_document(newest.document)


@read_once
def seller(catalogue_number: int, key: str = "", currency: str = "") -> PinnedSeller:
    """Return a selling legal entity as a catalog version defines it.

    An empty ``key`` is the main seller, an empty ``currency`` the seller's main one.

    Raises:
        Missing: there is no version ``catalogue_number``, or it has no such seller, or the seller
            does not sell in this currency.
    """
    found = publishing.seller(catalogue_number, key)
    if currency and currency not in found.currencies:
        raise Missing(f"{found.key} does not sell in {currency}.", code="catalog.missing")
    return _pinned(found, catalogue_number, currency or found.currency)


def _pinned(found: Seller, number: int, currency: str) -> PinnedSeller:
    # For a seller under VAT, the rate of the countries replaces this percentage later (``facts``).
    rule = SellerRule(currency, Rounding(found.rounding), found.tax_percent)
    printed = {
        "name": found.name,
        "address": found.address,
        "country": found.country,
        "tax_id": found.tax_id,
    }
    return PinnedSeller(
        found.key,
        rule,
        printed,
        found.payment_days,
        number,
        found.country,
        found.tax_regime == Regime.VAT,
    )
