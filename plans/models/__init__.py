"""The Django models of plans, usage and invoices, one module per subject; import from here."""

from plans.models.catalog import (
    AddressPlan,
    CatalogVersion,
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
from plans.models.usage_copy import QuotaAlert, UsageCopy, UsageRecord

__all__ = [
    "AddressPlan",
    "CatalogVersion",
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
