"""Views of a tenant's payments: the way to the provider's page, and the history of payments."""

from django.conf import settings
from django.http import HttpResponseBase
from django.utils import timezone

from controlplane.console import payment_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.scope import TenantScope
from controlplane.console.views.invoices import find
from plans.invoicing import receiving
from plans.payments import checkouts, providers
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING)
def history(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's payments, the newest first, with their refunds and disputes."""
    page = scope.page_of(payment_reads.of(scope.tenant))
    return scope.render("payments/history.html", {"page": page})


@tenant_page(Permission.MANAGE_BILLING)
def pay(scope: TenantScope, invoice: str) -> HttpResponseBase:
    """Show what is due of an invoice and how it is paid; on POST open the provider's page.

    The page links there instead of redirecting: browsers apply the policy of forms to redirects,
    and the provider's host is not in it.
    """
    row = find(scope, invoice)
    provider = providers.configured()
    # By the method: the form has no fields, and an empty POST is false.
    is_sent = scope.request.method == "POST"
    form = ConsoleForm(scope.request.POST if is_sent else None)
    checkout = None
    if is_sent and form.is_valid():
        # A second POST finds the provider's page that the first one opened.
        checkout = form.attempt(checkouts.begin, invoice=row, by=scope.actor, now=timezone.now())
    context = {
        "row": row,
        "crumb": row.number or "Not numbered yet",
        "due_minor": receiving.due_minor(row) if row.state in receiving.UNPAID else 0,
        "provider": provider,
        "checkout": checkout,
        "form": form,
        "instructions": settings.PAYMENT_INSTRUCTIONS,
    }
    return scope.render("payments/pay.html", context, form_status(form))
