"""Invoices from open to paid; the public names of the package.

Who calls it: ``workers.metering.closing`` (close, hold, verify), the API, the portal and the
command. ``plans.invoicing.rendering`` makes pages and files of a document.
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
from plans.invoicing.credit import credit_minor
from plans.invoicing.document import loaded
from plans.invoicing.earlier import EarlierInvoiceOpen
from plans.invoicing.evidence import CrashGap, Evidence, Fall, Hole, TablePin, UsageKey
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
from plans.invoicing.states import WrongState
from plans.invoicing.verification_requests import request_verify
from plans.invoicing.verification_requests import waiting as verifications_waiting
from plans.invoicing.verifying import NothingToVerify, Verification, verify

__all__ = [
    "CrashGap",
    "EarlierInvoiceOpen",
    "Evidence",
    "Fall",
    "Hole",
    "NoSubscription",
    "NothingToVerify",
    "PaymentExceedsInvoice",
    "PaymentReferenceReused",
    "PeriodOverlaps",
    "Preview",
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
