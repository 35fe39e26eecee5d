"""Opens the page of the configured provider on which an invoice is paid. API and portal call it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from plans.invoicing import receiving, states
from plans.models import Checkout, Invoice
from plans.payments import providers
from plans.payments.port import CheckoutRequest

# A page that ends sooner is not offered again: the payer needs some time.
_LEAST_TIME = timedelta(minutes=10)


class NothingDue(Conflict):
    """Nothing of the invoice is to be paid."""

    code = "payment.nothing_due"


def begin(*, invoice: Invoice, by: Actor, now: datetime) -> Checkout:
    """Return a page of the provider on which what is due of the invoice can be paid.

    An open page for the same amount is returned again. The provider, not the return of the payer,
    reports the payment (``events``). After a kill between the provider's answer and the commit, the
    next call gets the same page from the provider, because it sends the same key.

    Raises:
        NothingDue: the invoice is paid, voided, written off or not issued.
        NoCheckout: invoices are paid by transfer only.
        CurrencyNotTaken, ProviderAway, ProviderRefuses: as the provider's adapter raises them.
    """
    provider = providers.configured()
    due = receiving.due_minor(invoice) if invoice.state in receiving.UNPAID else 0
    if not due:
        raise NothingDue("Nothing of this invoice is to be paid.", state=invoice.state)
    earlier = Checkout.objects.filter(invoice=invoice, provider=provider.name)
    known = earlier.filter(amount_minor=due, expires_at__gt=now + _LEAST_TIME).last()
    if known is not None:
        return known
    tenant = invoice.tenant
    opened = provider.open_checkout(
        CheckoutRequest(
            key=f"{invoice.id}-{earlier.count() + 1}-{due}",
            invoice=invoice.id,
            number=invoice.number or "",
            tenant=tenant.slug,
            email=tenant.billing_email,
            amount_minor=due,
            currency=invoice.currency,
            return_url=f"{settings.PUBLIC_URL}/t/{tenant.slug}/invoices/{invoice.id}/",
        ),
        now,
    )
    with transaction.atomic():
        row, is_new = Checkout.objects.get_or_create(
            provider=provider.name,
            reference=opened.reference,
            defaults={
                "invoice": invoice,
                "url": opened.url,
                "amount_minor": due,
                "requested_by": by.name,
                "expires_at": opened.expires_at,
            },
        )
        if is_new:
            after = {"provider": provider.name, "amount_minor": due}
            audit.record(by, "invoice.checkout", states.subject_of(invoice), after=after)
    return row
