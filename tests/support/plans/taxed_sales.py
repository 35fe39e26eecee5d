"""Invoices and credit notes with every kind of tax, of two sellers and three currencies.

The seller ``wp`` is in Germany and taxes by the countries of both parties. The seller ``wp-inc`` is
in the United States and taxes everything at 6.25 %. The fee of April is 49.00 EUR, 147.00 CHF or
98.00 USD.
"""

from datetime import UTC, date, datetime
from typing import Any

from plans.catalog import publishing, selling
from plans.invoicing import credit_notes, invoice_closing, issuing, replacing
from plans.models import Invoice
from plans.usage import reading
from tenants.actions import tax_details
from tenants.actions.tax_details import Exemption
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans import debts, two_sellers
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

VAT_IDS = ("FR40303265045", "FR83404833048")
MAY_4, JUNE_10 = date(2026, 5, 4), date(2026, 6, 10)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def buyer(offer: tuple[str, str] | None = None, plan: str = "team", **fields: Any) -> Tenant:
    """Return a tenant of April, by default in Germany; ``offer`` is its seller and currency."""
    if publishing.newest_version() is None:
        two_sellers.publish(tax_regime="vat")
    row = rows.tenant(STARTS_AT, to=publishing.plan(plan), **{"billing_country": "DE", **fields})
    if offer:
        selling.assign(row.pk, selling.offer(*offer), "user:staff@seller.example")
    return row


def exempt(owner: Tenant, text: str = "Section 4") -> Tenant:
    """Give the tenant a certificate, so that it pays no tax; return the tenant.

    One of another text is in force from May on.
    """
    wanted = Exemption("E", "1", text, date(2026, 1 if text == "Section 4" else 5, 1))
    tax_details.set_exemption(tenant=owner, wanted=wanted, by=STAFF)
    return owner


def credit(invoice: Invoice, minor: int | None, *, position: int = 1) -> None:
    """Issue a credit note for a part of a line on 10 June; None: void the invoice."""
    at = debts.at(JUNE_10)
    if minor is None:
        credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF, now=at)
    else:
        credit_notes.issue(
            invoice=invoice, wanted={position: minor}, reason="an outage", by=STAFF, now=at
        )


def with_usage(owner: Tenant) -> Tenant:
    """Give the tenant, which has the plan ``bulk``, a space free of charge; return the tenant."""
    rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return owner


def corrected(
    owner: Tenant, before: int, after: int, exempt_by: str = "", **changes: Any
) -> tuple[Invoice, Invoice]:
    """Return the invoices of April, issued on 4 May, and of May, issued on 10 June.

    The tenant has used ``before`` messages of 1.00 when the first one is issued. Then it gets
    ``changes``, such as another country, a certificate with the text ``exempt_by`` unless it is
    empty, and ``after`` messages in April.
    """
    used(owner, before)
    april = _issued(owner, STARTS_AT, MAY_4)
    Tenant.objects.filter(pk=owner.pk).update(**changes)
    owner.refresh_from_db()
    if exempt_by:
        exempt(owner, exempt_by)
    used(owner, after)
    return april, _issued(owner, ENDS_AT, JUNE_10)


def used(owner: Tenant, messages: int) -> None:
    """Copy in the tenant's messages of April."""
    rows.used(rows.cell(owner.spaces.get(), "messages_in", messages))


def _issued(owner: Tenant, starts_at: datetime, day: date) -> Invoice:
    ends_at = ENDS_AT if starts_at == STARTS_AT else JUNE
    closing, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now=debts.at(day),
        now_forced=True,
    )  # fmt: skip
    evidence = rows.evidence(
        reading.cells(owner.id, starts_at, ends_at),
        as_of=ends_at,
        sampled_spaces=frozenset(owner.spaces.values_list("id", flat=True)),
        earlier=rows.earlier(closing),
    )
    draft = invoice_closing.close(invoice=closing, evidence=evidence, by=STAFF)
    return issuing.issue(
        invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF, now=debts.at(day)
    )


def history() -> dict[str, Tenant]:
    """Return the buyers of documents of May and June 2026, by what is special about them."""
    found = {
        "home": buyer(),
        "consumer": buyer(billing_country="FR"),
        "business": buyer(billing_country="FR", tax_id=VAT_IDS[0], billing_name="Quai SA"),
        "export": buyer(billing_country="GB"),
        "exempt": exempt(buyer()),
        "francs": buyer(two_sellers.FRANCS),
        "dollars": buyer(two_sellers.DOLLARS),
        "void": buyer(billing_country="AT"),
        "wrong": buyer(billing_country="FR"),
    }
    invoices = {name: debts.issued(owner, MAY_4) for name, owner in found.items()}
    credit(invoices["consumer"], 1000)
    credit(invoices["business"], 500)
    credit(invoices["dollars"], 1001)
    credit(invoices["void"], None)
    Tenant.objects.filter(pk=found["wrong"].pk).update(tax_id=VAT_IDS[1])
    replacing.replace(
        invoice=invoices["wrong"], reason="wrong VAT id", by=STAFF, now=debts.at(JUNE_10)
    )
    found["late"] = with_usage(buyer(plan="bulk", billing_country="FR"))
    corrected(found["late"], 7, 12, tax_id=VAT_IDS[0])
    found["below"] = with_usage(buyer(plan="bulk", billing_country="IT"))
    corrected(found["below"], 900, 1100)
    return found
