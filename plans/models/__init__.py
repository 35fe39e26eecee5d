"""Models of plans, usage and invoices, one module per subject; import names from here."""

from plans.models.catalog import (
    AddressPlan,
    CatalogueVersion,
    Plan,
    PlanSubscription,
    QuotaOverride,
    SpacePlan,
)
from plans.models.invoice import (
    Invoice,
    InvoiceEvent,
    InvoiceLine,
    InvoiceNumberSeries,
    LedgerEntry,
    LedgerPosting,
    Payment,
)
from plans.models.usage import QuotaAlert, UsageCopy, UsageRecord

__all__ = [
    "AddressPlan",
    "CatalogueVersion",
    "Invoice",
    "InvoiceEvent",
    "InvoiceLine",
    "InvoiceNumberSeries",
    "LedgerEntry",
    "LedgerPosting",
    "Payment",
    "Plan",
    "PlanSubscription",
    "QuotaAlert",
    "QuotaOverride",
    "SpacePlan",
    "UsageCopy",
    "UsageRecord",
]
