"""Invoices that customers owe, and what is booked to them on chosen days."""

from datetime import UTC, date, datetime, time

from django.db import connection
from django.db.models import Sum

from plans.invoicing import invoice_closing, issuing, receiving
from plans.ledger import posting
from plans.models import Invoice, LedgerPosting, Payment
from plans.rating.periods import month_of
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF


def at(day: date, hour: int = 12) -> datetime:
    """Return an instant of the day, in UTC."""
    return datetime.combine(day, time(hour), UTC)


def issued(owner: Tenant, day: date, hour: int = 12) -> Invoice:
    """Return the tenant's invoice of April, issued on ``day``: 58.31 EUR with tax of 19 %."""
    month = month_of(at(date(2026, 4, 15)), owner.billing_time_zone)
    closing, _ = invoice_closing.request_close(
        tenant=owner, starts_at=month.starts_at, ends_at=month.ends_at, by=STAFF, now=at(day, hour),
        now_forced=True,
    )  # fmt: skip
    evidence = rows.evidence(as_of=month.ends_at)
    draft = invoice_closing.close(invoice=closing, evidence=evidence, by=STAFF)
    approved = issuing.approve(invoice=draft, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=at(day, hour))


def paid(invoice: Invoice, amount_minor: int, day: date) -> Payment:
    """Return a payment of the invoice that was booked on ``day``; a surplus becomes credit."""
    number = Payment.objects.count()
    # A colon, as a source of payments may have one.
    payment = Payment(
        source="bank:one", reference=f"tx:{number}", amount_minor=amount_minor, received_on=day
    )
    receiving.receive(invoice=invoice, payment=payment, by=STAFF, surplus_to_credit=True)
    book_on(f"payment:bank:one:tx:{number}", day)
    return payment


def book_on(reference: str, day: date) -> None:
    """Move an entry of the ledger to ``day``: payments are always booked at the present time."""
    moved = "UPDATE plans_ledgerentry SET booked_at = %s WHERE reference = %s"
    assert alter(moved, at(day), reference) == 1


def alter(statement: str, *values: str | datetime) -> int:
    """Run a statement as somebody does who switches the triggers of the database off.

    Returns how many rows it changed.
    """
    with connection.cursor() as cursor:
        # What was booked is checked now, as at a commit.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, values or None)
        changed: int = cursor.rowcount
        cursor.execute("SET session_replication_role = origin")
        return changed


def receivable(day: date) -> dict[tuple[str, str], int]:
    """Return {(legal entity, currency): balance of ``receivable`` at the end of the day}."""
    found = (
        LedgerPosting.objects.filter(
            account=posting.RECEIVABLE, entry__booked_at__lte=datetime.combine(day, time.max, UTC)
        )
        .values_list("entry__legal_entity", "entry__currency")
        .annotate(sum=Sum("amount_minor"))
        .order_by()
    )
    return {(entity, currency): minor for entity, currency, minor in found if minor}
