"""Writes the events of invoices that are issued or become overdue."""

from datetime import datetime

from plans.invoicing import receiving
from plans.models import Invoice
from plans.rating import money
from tenants.notifications import outbox


def write_issued(invoice: Invoice, now: datetime) -> None:
    """Report that the invoice is issued, once."""
    _write("invoice.issued", invoice, invoice.id, now)


def write_overdue(invoice: Invoice, now: datetime) -> None:
    """Write the event that the invoice is overdue. Idempotent until the invoice is paid in full.

    A payment in part causes no second event. After a payment in full, a refund may make the invoice
    overdue again, and then there is another event.
    """
    n_paid = invoice.events.filter(to_state=Invoice.State.PAID).count()
    key = f"{invoice.id}:{n_paid}" if n_paid else invoice.id
    _write("invoice.overdue", invoice, key, now)


def _write(kind: str, invoice: Invoice, key: str, now: datetime) -> None:
    due_on = str(invoice.due_on or "")
    amounts = {
        "total": invoice.total_minor,
        "payable": invoice.payable_minor,
        "outstanding": receiving.outstanding_minor(invoice),
    }
    words = {name: money.display(n, invoice.currency) for name, n in amounts.items()}
    to_pay = "There is nothing to pay."
    if invoice.payable_minor:
        to_pay = f"{words['payable']} are due by {due_on}."
    if used_minor := invoice.total_minor - invoice.payable_minor:
        used = money.display(used_minor, invoice.currency)
        to_pay = f"Its total is {words['total']}, of which credit pays {used}. {to_pay}"
    if invoice.replaces:
        to_pay = f"It replaces {invoice.replaces.number}, which is void. {to_pay}"
    outbox.write(
        kind,
        tenant=invoice.tenant,
        key=key,
        fields={
            "invoice": invoice.id,
            "number": invoice.number,
            "due_on": due_on,
            "to_pay": to_pay,
            **words,
        },
        now=now,
    )
