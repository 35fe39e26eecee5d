"""Verify an invoice: make it again from the pinned table versions and compare every byte.

The task ``workers.verify_invoice`` runs ``verify``, which finishes the operation that
``invoice_verification.request_verify`` began.
"""

from typing import Any

from controlplane.core import operations
from controlplane.core.errors import WaypostError
from plans.invoicing import corrections, invoice_verification
from plans.invoicing.invoice_verification import Verification
from plans.models import Invoice
from plans.rating.periods import Period
from workers.metering import delta, gold, ingest, recompute
from workers.metering.pipeline import Table
from workers.metering.roots import Root

_SUBJECT = "invoice_verification"


def verify(invoice_id: str) -> None:
    """Recompute the invoice and finish the operation of its verification.

    The operation succeeds if three things are the same: every byte of the document, the hash of
    the sample ids, and the state that the month's previous invoice left. Otherwise it fails with
    the differences. It also fails with a ``WaypostError`` that prevented the comparison.
    """
    invoice = Invoice.objects.get(pk=invoice_id)
    try:
        found = recomputed(invoice, ingest.lakehouse_root())
    except WaypostError as error:
        operations.fail(_SUBJECT, invoice_id, code=error.error_code, message=error.message)
        return
    if found.same:
        operations.succeed(_SUBJECT, invoice_id, up_to_generation=1)
        return
    message = "The invoice cannot be reproduced: " + "; ".join(found.differences)
    operations.fail(_SUBJECT, invoice_id, code="invoice.differs", message=message)


def recomputed(invoice: Invoice, root: Root) -> Verification:
    """Make the invoice again from its pinned tables; return how it compares with the stored one.

    Raises:
        NothingToVerify: the invoice has no document.
        TableReplaced: a pinned table does not exist any more.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    invoice_verification.require_document(invoice)
    stored: dict[str, dict[str, Any]] = invoice.manifest["tables"]
    pins = {n: Table(pin["id"], pin["version"]) for n, pin in stored.items()}
    period = Period(invoice.starts_at, invoice.ends_at)
    # An invoice may correct earlier months, and then needs their usage too.
    since = corrections.usage_since(invoice)
    cells = gold.cells(root, pins[delta.USAGE], invoice.tenant_id, since, period.ends_at)
    question = recompute.question(root, pins[delta.BRONZE], invoice.tenant_id, period)
    sample_hash, _ = recompute.sample_ids(question)
    return invoice_verification.verify(invoice=invoice, cells=cells, sample_hash=sample_hash)
