"""Says how an issued invoice is booked in the ledger. Pure.

``issuing`` books it, and a verification compares the rows of the ledger with it.
"""

from plans.invoicing.document import Document
from plans.ledger import grants, posting
from plans.models import Invoice


def booking_of(invoice: Invoice, made: Document) -> posting.Booking:
    """Return the ledger entry of ``invoice``, whose document is ``made``.

    The entry debits receivable and used credit, and credits tax and revenue. A negative amount is
    booked on the other side.
    """
    credited: Document = made["credit"] or {}
    postings = {
        posting.RECEIVABLE: made["payable_minor"] if credited else made["total_minor"],
        posting.credit(invoice.legal_entity): credited.get("used_minor", 0),
        posting.TAX: -made["tax_minor"],
    }
    for use in credited.get("grants", []):
        account = grants.account(use["kind"], invoice.legal_entity)
        postings[account] = postings.get(account, 0) + use["used_minor"]
    # Lines of one meter, such as of two plans in the period, become one posting.
    for line in made["lines"]:
        account = posting.revenue(line["meter"])
        postings[account] = postings.get(account, 0) - line["amount_minor"]
    return posting.Booking(
        posting.invoice_reference(invoice.id),
        invoice.tenant_id,
        made["currency"],
        f"Invoice {made['number']}",
        postings,
        invoice.legal_entity,
    )
