"""The Django models of plans, usage and invoices, one module per subject; import from here."""

from plans.models.catalog import (
    AddressPlan,
    CatalogVersion,
    Plan,
    PlanSubscription,
    QuotaOverride,
    SpacePlan,
)
from plans.models.credit_note import CreditNote, CreditNoteNumberSeries
from plans.models.exports import AccountCode
from plans.models.invoice import (
    Invoice,
    InvoiceEvent,
    InvoiceLine,
    InvoiceNumberSeries,
    LedgerEntry,
    LedgerPosting,
    Payment,
)
from plans.models.terms import (
    Commitment,
    Coupon,
    CreditGrant,
    CreditUse,
    Discount,
)
from plans.models.usage_copy import (
    QuotaAlert,
    UsageCopy,
    UsageDay,
    UsageHour,
    UsageRecord,
    UsageSpaceDay,
    UsageSum,
)

__all__ = [
    "AccountCode",
    "AddressPlan",
    "CatalogVersion",
    "Commitment",
    "Coupon",
    "CreditGrant",
    "CreditNote",
    "CreditNoteNumberSeries",
    "CreditUse",
    "Discount",
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
    "UsageDay",
    "UsageHour",
    "UsageRecord",
    "UsageSpaceDay",
    "UsageSum",
]
