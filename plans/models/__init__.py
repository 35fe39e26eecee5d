"""The Django models of plans, usage and invoices, one module per subject; import from here."""

from plans.models.catalog import (
    AddressPlan,
    CatalogVersion,
    Plan,
    PlanSubscription,
    QuotaOverride,
    SpacePlan,
)
from plans.models.catalog_draft import BackTest, BackTestRow, CatalogDraft
from plans.models.close_run import CloseRun, CloseRunAction, CloseRunInvoice
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
from plans.models.payment import (
    Checkout,
    DunningCase,
    DunningPause,
    PaymentDispute,
    PaymentEvent,
    Refund,
)
from plans.models.quota import SpendCap, UsageTail
from plans.models.sample_reading import ReadRow, SampleReading
from plans.models.selling import SellerAssignment, TaxExemption, TaxIdCheck
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
    "BackTest",
    "BackTestRow",
    "CatalogDraft",
    "CatalogVersion",
    "Checkout",
    "CloseRun",
    "CloseRunAction",
    "CloseRunInvoice",
    "Commitment",
    "Coupon",
    "CreditGrant",
    "CreditNote",
    "CreditNoteNumberSeries",
    "CreditUse",
    "Discount",
    "DunningCase",
    "DunningPause",
    "Invoice",
    "InvoiceEvent",
    "InvoiceLine",
    "InvoiceNumberSeries",
    "LedgerEntry",
    "LedgerPosting",
    "Payment",
    "PaymentDispute",
    "PaymentEvent",
    "Plan",
    "PlanSubscription",
    "QuotaAlert",
    "QuotaOverride",
    "ReadRow",
    "Refund",
    "SampleReading",
    "SellerAssignment",
    "SpacePlan",
    "SpendCap",
    "TaxExemption",
    "TaxIdCheck",
    "UsageCopy",
    "UsageDay",
    "UsageHour",
    "UsageRecord",
    "UsageSpaceDay",
    "UsageSum",
    "UsageTail",
]
