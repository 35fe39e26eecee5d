"""Requests the verification of an invoice; the task ``workers.verify_invoice`` recomputes it.

Called by the API and the portal. If the task message is lost, a periodic task finds the request
with ``waiting``.
"""

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.models import Operation
from plans.invoicing import states
from plans.invoicing.verifying import NothingToVerify
from plans.models import Invoice

SUBJECT_TYPE = "invoice_verification"


def request_verify(*, invoice: Invoice, by: Actor) -> Operation:
    """Return the running operation that recomputes ``invoice``; start one if there is none.

    It succeeds if every byte is the same, and fails with the differences otherwise.

    Raises:
        NothingToVerify: the invoice has no document yet.
    """
    with transaction.atomic():
        current = states.locked(invoice)
        if not current.document:
            raise NothingToVerify("This invoice has no document yet: its period is not closed.")
        running = _running().filter(subject_id=current.pk).first()
        if running is not None:
            return running
        subject = states.subject_of(current)
        audit.record(by, "invoice.verify", subject)
        enqueue.after_commit("workers.verify_invoice", invoice_id=current.pk)
        return operations.begin(
            tenant_id=current.tenant_id,
            kind="invoice.verify",
            subject=(SUBJECT_TYPE, current.pk, subject.name),
            generation=1,
        )


def waiting() -> list[str]:
    """Return the ids of invoices whose verification is requested but not finished."""
    return list(_running().order_by("created_at").values_list("subject_id", flat=True))


def _running() -> QuerySet[Operation]:
    return Operation.objects.filter(subject_type=SUBJECT_TYPE, state=Operation.State.RUNNING)
