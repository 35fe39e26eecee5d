"""Rows of what a tenant agreed on: coupon, discount, commitment, credit, exemption, tax id."""

from datetime import date
from decimal import Decimal

from controlplane.core.audit import SYSTEM
from plans.invoicing import discounting, granting
from plans.invoicing.discounting import Reduction
from plans.invoicing.granting import Wish
from tenants.actions import tax_details
from tenants.actions.tax_details import Exemption
from tenants.models import Tenant

VAT_ID = "DE136695976"  # a valid form


def furnish(tenant: Tenant) -> dict[str, str]:
    """Make one row of each kind; return {parameter of a path: its value}."""
    half = Reduction("Half", percent=Decimal(50))
    least = discounting.commit(tenant=tenant, title="Least", minimum_minor=1, span=None, by=SYSTEM)
    ahead = Wish("prepaid", 1000, "furnished", "paid ahead")
    wanted = Exemption("E", "1", "Section 4", date(2026, 1, 1), date(2026, 1, 31))
    return {
        "coupon": discounting.create_coupon(code="HALF", reduction=half, by=SYSTEM).code,
        "discount": discounting.give(tenant=tenant, reduction=half, by=SYSTEM).pk,
        "commitment": least.pk,
        "credit": granting.grant(tenant=tenant, wish=ahead, by=SYSTEM).pk,
        "exemption": tax_details.set_exemption(tenant=tenant, wanted=wanted, by=SYSTEM).pk,
    }
