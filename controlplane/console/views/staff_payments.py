"""The operator's views of payments and refunds, and of overdue invoices."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import payment_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.staff import DunningPauseForm, RefundForm
from controlplane.console.scope import StaffScope
from plans.invoicing import refunding
from plans.payments import dunning, providers, refunds
from tenants import queries


@staff_page
def payment_list(scope: StaffScope) -> HttpResponseBase:
    """List the payments of all tenants, below the events of providers that need a look."""
    context = {
        "page": scope.page_of(payment_reads.everyone()),
        "events": payment_reads.events_to_look_at(),
        "provider": providers.configured(),
    }
    return scope.render("staff/payments.html", context)


@staff_page
def detail(scope: StaffScope, payment: int) -> HttpResponseBase:
    """Show a payment with its refunds and disputes; on POST refund it."""
    row = payment_reads.get(payment)
    provider = providers.of_source(row.source)
    # Only for the form: ``refunding.book`` checks the amount again, under the lock of the invoice.
    left = refunding.left_minor(row)
    form = RefundForm(
        scope.request.POST or None,
        payment=row,
        left_minor=left,
        by_bank=not provider.has_refunds,
    )
    if form.is_valid():
        wanted = refunding.Wanted(
            form.cleaned_data["amount"],
            form.cleaned_data["reason"],
            reopens=form.cleaned_data["reopens"],
            # The form has no such field if the provider sends the money.
            reference=form.cleaned_data.get("reference", ""),
            seen_left_minor=form.cleaned_data["seen_left"],
        )
        made = form.attempt(
            refunds.request, payment=row, wanted=wanted, by=scope.actor, now=timezone.now()
        )
        if made is not None:
            messages.success(scope.request, "The refund is booked.")
            return redirect("console:staff_payment", row.pk)
        left = refunding.left_minor(row)
        form.show_left(left)
    context = {
        "payment": row,
        "refunds": row.refunds.order_by("requested_at", "id"),
        "disputes": row.disputes.order_by("opened_at", "id"),
        "left_minor": left,
        "credit_minor": refunding.credit_minor(row.invoice),
        "by_bank": not provider.has_refunds,
        "provider_title": provider.title,
        "form": form,
    }
    return scope.render("staff/payment.html", context, form_status(form))


@staff_page
def overdue(scope: StaffScope) -> HttpResponseBase:
    """List overdue invoices, and what happens to their tenants when."""
    page = scope.page_of(dunning.overdue(timezone.now()))
    return scope.render("staff/overdue.html", {"page": page, "rules": dunning.schedule()})


@staff_page
def pause(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Ask why a tenant's unpaid invoices rest; on POST pause dunning of the tenant."""
    row = queries.get_tenant(tenant)
    form = DunningPauseForm(scope.request.POST or None)
    if form.is_valid() and form.attempted(
        dunning.pause,
        tenant=row,
        reason=form.cleaned_data["reason"],
        until=form.until(),
        by=scope.actor,
        now=timezone.now(),
    ):
        messages.success(scope.request, f"Dunning of {row.name} is paused.")
        return redirect("console:staff_overdue")
    context = {
        "form": form,
        "question": f"Pause dunning of {row.name}?",
        "consequence": "No reminders are sent, and its clients may send and connect. When it is "
        "resumed, the tenant is told again before anything happens.",
        "verb": "Pause",
        "back": reverse("console:staff_overdue"),
        "back_label": "Overdue",
    }
    return scope.render("confirm.html", context, form_status(form))


@require_POST
@staff_page
def resume(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """End the pause of dunning of a tenant; POST only."""
    row = queries.get_tenant(tenant)
    dunning.resume(tenant=row, by=scope.actor, now=timezone.now())
    messages.success(scope.request, f"Dunning of {row.name} goes on.")
    return redirect("console:staff_overdue")
