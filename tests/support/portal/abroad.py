"""Two customers in France: a business, whose invoice has reverse charge, and a consumer."""

from controlplane.core.audit import SYSTEM
from plans.catalog import parsing, publishing
from plans.invoicing import invoice_closing, issuing
from plans.models import Invoice
from tenants.actions import tenants
from tenants.models import Tenant
from tests.support.portal import rows

VAT_ID = "FR40303265045"


def sell() -> tuple[Invoice, Invoice]:
    """Return last month's invoices of both, issued now: 49.00 EUR each, with 0 % and 20 % of tax.

    Publishes the default catalog with a seller that taxes by the countries of both parties.
    """
    text = publishing.default_yaml()
    by_vat = text.replace('tax_percent: "19"', 'tax_percent: "19"\n  tax_regime: vat', 1)
    publishing.publish(parsing.parse(by_vat), by=SYSTEM)
    return _billed("Quai SA", VAT_ID), _billed("Marie Blanc", "")


def _billed(name: str, vat_id: str) -> Invoice:
    owner = tenants.sign_up(
        email=f"{name.split()[0].lower()}@quai.example",
        password=rows.PASSWORD,
        organization=name,
        plan_key="team",
    ).tenant
    rows.bill_to(owner)
    details = {"billing_name": name, "billing_country": "FR", "tax_id": vat_id}
    Tenant.objects.filter(pk=owner.pk).update(**details)
    closing = rows.closing(owner)
    draft = invoice_closing.close(invoice=closing, evidence=rows.evidence([]), by=rows.STAFF)
    return issuing.issue(invoice=issuing.approve(invoice=draft, by=rows.STAFF), by=rows.STAFF)
