"""Views of a tenant's settings: billing details, and the change of plan with its price."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import as_command, credit_reads, plan_descriptions, plan_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.accounts import PlanForm
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import BillingForm, ConfirmPlanForm
from controlplane.console.plan_reads import Offer
from controlplane.console.scope import TenantScope
from controlplane.core.errors import WaypostError
from plans.catalog import publishing, selling
from plans.catalog.definitions import PlanDefinition
from plans.invoicing import plan_change_preview
from plans.models import Plan
from tenants import admission
from tenants.account_rules import BillingDetails
from tenants.actions import coming_versions, plan_subscriptions, plan_versions, tenants
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING, change=Permission.MANAGE_BILLING)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the tenant's plan and billing details; on POST save the billing details.

    Only members who may manage billing see the form.
    """
    form = BillingForm.of(scope.tenant, scope.request.POST or None)
    if form.is_valid() and not scope.shows_command:
        details = BillingDetails(**form.cleaned_data)
        if form.attempt(
            tenants.update_billing, tenant=scope.tenant, details=details, by=scope.actor
        ):
            messages.success(scope.request, "Your billing details are saved.")
            return redirect(scope.url("settings"))
    sold, subscription = admission.open_plan(scope.tenant), plan_versions.open_of(scope.tenant)
    context = {
        "plan": sold,
        "offers": [Offer(sold)] if sold else [],
        "subscription": subscription,
        "coming_versions": coming_versions.of(subscription) if subscription else [],
        "form": form if scope.may["manage_billing"] else None,
        "same": as_command.replace_billing(scope.tenant.slug, form.details_now()),
        "tax_id_words": credit_reads.tax_id_words(scope.tenant),
    }
    return scope.render("team/settings.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_BILLING)
def follow(scope: TenantScope) -> HttpResponseBase:
    """Follow new versions of the plan, or stay with the present one if ``follows`` is empty.

    POST only.
    """
    follows = bool(scope.request.POST.get("follows"))
    plan_versions.choose(tenant=scope.tenant, follows=follows, by=scope.actor, now=timezone.now())
    text = "You follow new versions of your plan." if follows else "You stay with your version."
    messages.success(scope.request, text)
    return redirect(scope.url("settings"))


@tenant_page(Permission.MANAGE_BILLING)
def plan(scope: TenantScope) -> HttpResponseBase:
    """Show the plans; with ``?plan=`` show what a change to it costs; on POST make the change.

    A POST changes the plan only if ``version`` is the version of the plan that is on offer. So
    nobody buys at a price that the page did not show.
    """
    offers = plan_reads.offered(selling.currency_of(scope.tenant.pk))
    chosen = scope.request.POST.get("plan") or scope.request.GET.get("plan")
    if not chosen:
        return _compare(scope, PlanForm(offers=offers), offers)
    # Bound also for a link, so that an unknown plan becomes an error of the form.
    form = PlanForm({"plan": chosen}, offers=offers)
    if not form.is_valid():
        return _compare(scope, form, offers)
    offered = publishing.plan(form.cleaned_data["plan"])
    confirmation = ConfirmPlanForm(scope.request.POST or None, version=offered.version)
    if confirmation.is_valid() and confirmation.attempted(
        plan_subscriptions.change, tenant=scope.tenant, plan_key=offered.key, by=scope.actor
    ):
        messages.success(scope.request, f"You are now on the plan {offered.title}.")
        return redirect(scope.url("settings"))
    return _confirm(scope, offered, confirmation, offers)


def _compare(scope: TenantScope, form: PlanForm, offers: Sequence[Offer]) -> HttpResponseBase:
    current = admission.plan_of(scope.tenant)
    columns = _with_present(current, offers)
    # Nothing is chosen before the tenant chooses it if its own version is not on offer any more.
    form.fields["plan"].initial = current.key if columns[0] in offers else None
    context = {
        "current": current,
        "form": form,
        "compared": plan_descriptions.comparison(columns),
        "offers": columns,
    }
    return scope.render("team/plan.html", context, form_status(form))


def _confirm(
    scope: TenantScope, offered: Plan, form: ConfirmPlanForm, offers: Sequence[Offer]
) -> HttpResponseBase:
    """Show what the change to ``offered`` costs, or why the tenant cannot make the change."""
    current = admission.plan_of(scope.tenant)
    chosen = publishing.plan_in(offered, current.currency)
    present, *others = _with_present(current, offers)
    columns = [present, *(offer for offer in others if offer.plan.key == chosen.key)]
    context: dict[str, Any] = {
        "current": current,
        "chosen": chosen,
        "form": form,
        "compared": plan_descriptions.comparison(columns),
        "offers": columns,
        "is_present": current == chosen,
        "is_new_version": current.key == chosen.key,
        "can_return": present in offers,
        "same": as_command.change_plan(scope.tenant.slug, chosen.key),
    }
    try:
        plan_subscriptions.check_fits(scope.tenant, chosen)
        context["price"] = plan_change_preview.price(scope.tenant, offered, timezone.now())
    except WaypostError as error:
        # A form that was submitted shows the same error itself.
        context["refusal"] = "" if form.errors else error.message
    return scope.render("team/plan_confirm.html", context, form_status(form))


def _with_present(current: PlanDefinition, offers: Sequence[Offer]) -> list[Offer]:
    """Return ``offers`` with the plan that the tenant has in front.

    It may be an older version, which is on offer no more.
    """
    present = next((offer for offer in offers if offer.plan == current), None)
    others = [offer for offer in offers if offer is not present]
    return [present or plan_reads.of_version(current), *others]
