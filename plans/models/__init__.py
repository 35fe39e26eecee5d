"""Rows of the commercial side, one module a noun; import names from here."""

from plans.models.catalogue import (
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
