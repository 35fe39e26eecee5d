"""Invoices from open to paid; the public names of the package.

Called by ``workers.metering`` (close, hold, verify), the API, the portal and the command line.
``plans.invoicing.rendering`` makes pages and files from an invoice document.
"""

from plans.invoicing.closing import (
    PeriodOverlaps,
    TooEarly,
    close,
    close_due,
    close_now,
    closing_invoices,
    hold,
    request_close,
)
from plans.invoicing.corrections import usage_since
from plans.invoicing.document import loaded
from plans.invoicing.evidence import CounterReset, CrashGap, Evidence, Gap, TablePin, UsageKey
from plans.invoicing.facts import NoSubscription
from plans.invoicing.issuing import (
    PaymentExceedsInvoice,
    PaymentReferenceReused,
    approve,
    issue,
    mark_overdue,
    outstanding_minor,
    record_payment,
    write_off,
)
from plans.invoicing.open_periods import running
from plans.invoicing.previewing import Preview, preview
from plans.invoicing.previous_invoice import PreviousInvoiceOpen
from plans.invoicing.states import WrongState
from plans.invoicing.verification_requests import request_verify
from plans.invoicing.verification_requests import waiting as verifications_waiting
from plans.invoicing.verifying import NothingToVerify, Verification, verify
from plans.ledger.credit import credit_minor

__all__ = [
    "CounterReset",
    "CrashGap",
    "Evidence",
    "Gap",
    "NoSubscription",
    "NothingToVerify",
    "PaymentExceedsInvoice",
    "PaymentReferenceReused",
    "PeriodOverlaps",
    "Preview",
    "PreviousInvoiceOpen",
    "TablePin",
    "TooEarly",
    "UsageKey",
    "Verification",
    "WrongState",
    "approve",
    "close",
    "close_due",
    "close_now",
    "closing_invoices",
    "credit_minor",
    "hold",
    "issue",
    "loaded",
    "mark_overdue",
    "outstanding_minor",
    "preview",
    "record_payment",
    "request_close",
    "request_verify",
    "running",
    "usage_since",
    "verifications_waiting",
    "verify",
    "write_off",
]
