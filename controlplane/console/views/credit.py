"""The page of a tenant's credit, discounts, commitments, trial and tax."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console import credit_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import CouponForm
from controlplane.console.scope import TenantScope
from plans.invoicing import discounting
from plans.ledger import movements
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING, change=Permission.MANAGE_BILLING)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show credit with its movements, and what else changes the price; on POST redeem a coupon.

    Only members who may manage billing see the form.
    """
    form = CouponForm(scope.request.POST or None)
    if form.is_valid():
        found = form.attempt(
            discounting.redeem, tenant=scope.tenant, code=form.cleaned_data["code"], by=scope.actor
        )
        if found is not None:
            messages.success(scope.request, f"Redeemed: {found.title}.")
            return redirect(scope.url("credit"))
    context = {
        **credit_reads.credit(scope.tenant, timezone.now()),
        **credit_reads.tax(scope.tenant),
        "discounts": credit_reads.discounts(scope.tenant),
        "commitments": credit_reads.commitments(scope.tenant),
        "terms_zone": scope.tenant.billing_time_zone,
        "page": scope.page_of(movements.of_tenant(scope.tenant.pk).order_by("-pk")),
        "form": form if scope.may["manage_billing"] else None,
    }
    return scope.render("invoices/credit.html", context, form_status(form))
