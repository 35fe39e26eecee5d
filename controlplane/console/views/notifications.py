"""Views of a tenant's notifications: own preferences, defaults, channels and their deliveries."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.notifications import (
    BudgetForm,
    ChannelChangeForm,
    ChannelForm,
    DefaultsForm,
    PreferencesForm,
)
from controlplane.console.scope import TenantScope
from plans.rating import money
from tenants import admission, queries
from tenants.actions import notification_channels, notification_preferences
from tenants.actions.notification_channels import Target
from tenants.notifications import preferences, reads
from tenants.notifications.models import Channel, SpendBudget
from tenants.permissions import Permission

_MANAGE = Permission.MANAGE_NOTIFICATIONS


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show what the member gets by mail; on POST save it. Managers also see the channels."""
    membership = queries.membership(scope.user, scope.tenant.slug)
    form = PreferencesForm(scope.request.POST or None, choices=preferences.choices(membership))
    if form.is_valid() and form.attempted(_saved, form=form, membership=membership):
        messages.success(scope.request, "Your preferences are saved.")
        return redirect(scope.url("notifications"))
    channels = reads.list_channels(scope.tenant) if scope.may[_MANAGE] else None
    context = {"form": form, "channels": channels}
    return scope.render("notifications/page.html", context, form_status(form))


@tenant_page(_MANAGE)
def defaults(scope: TenantScope) -> HttpResponseBase:
    """Show what members get by default, and the budget; on POST save both."""
    currency = admission.plan_of(scope.tenant).currency
    stored = SpendBudget.objects.filter(tenant=scope.tenant).first()
    amount = money.to_major(stored.amount_minor, currency) if stored else None
    form = DefaultsForm(
        scope.request.POST or None, defaults=dict(preferences.of_tenant(scope.tenant))
    )
    budget_form = BudgetForm(scope.request.POST or None, initial={"budget": amount})
    if form.is_valid() and budget_form.is_valid():
        changed = {
            kind: form.cleaned_data[kind] for kind in form.changed_data if kind in form.fields
        }
        budget = budget_form.cleaned_data["budget"]
        notification_preferences.set_defaults(tenant=scope.tenant, choices=changed, by=scope.actor)
        notification_preferences.set_budget(
            tenant=scope.tenant,
            amount_minor=None
            if budget is None
            else int(budget.scaleb(money.minor_digits(currency))),
            by=scope.actor,
        )
        messages.success(scope.request, "The defaults are saved.")
        return redirect(scope.url("notifications"))
    context = {"form": form, "budget_form": budget_form, "currency": currency}
    status = form_status(form, budget_form)
    return scope.render("notifications/defaults.html", context, status)


@tenant_page(_MANAGE)
def channel_new(scope: TenantScope) -> HttpResponseBase:
    """Show the form for a new channel; on POST create it and show its secret, once."""
    form = ChannelForm(scope.request.POST or None)
    if form.is_valid():
        values = form.cleaned_data
        made = form.attempt(
            notification_channels.create,
            tenant=scope.tenant,
            name=values["name"],
            target=Target(values["kind"], values["url"]),
            kinds=values["kinds"],
            by=scope.actor,
        )
        if made:
            return _channel_page(scope, made[0], secret=made[1])
    return scope.render("notifications/channel_new.html", {"form": form}, form_status(form))


@tenant_page(_MANAGE)
def channel(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Show a channel with its deliveries; on POST change it."""
    row = reads.get_channel(scope.tenant, channel)
    form = _change_form(row, scope.request.POST or None)
    if form.is_valid():
        values = form.cleaned_data
        if form.attempted(
            notification_channels.update,
            channel=row,
            by=scope.actor,
            name=values["name"],
            url=values["url"] or None,
            kinds=values["kinds"],
            enabled=values["enabled"],
        ):
            messages.success(scope.request, "The channel is saved.")
            return redirect(scope.url("channel", row.pk))
    return _channel_page(scope, row, form=form)


@require_POST
@tenant_page(_MANAGE)
def channel_test(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Send a test event to a channel, then redirect to its log; POST only."""
    row = reads.get_channel(scope.tenant, channel)
    notification_channels.test(channel=row, by=scope.actor)
    messages.success(scope.request, "A test event is on its way: see the log below in a moment.")
    return redirect(scope.url("channel", row.pk))


@require_POST
@tenant_page(_MANAGE)
def channel_secret(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Give a webhook a new secret and show it, once; POST only."""
    row = reads.get_channel(scope.tenant, channel)
    row, secret = notification_channels.rotate_secret(channel=row, by=scope.actor)
    return _channel_page(scope, row, secret=secret)


@tenant_page(_MANAGE)
def channel_delete(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Ask whether to delete a channel; on POST delete it."""
    row = reads.get_channel(scope.tenant, channel)
    if scope.request.method == "POST":
        notification_channels.delete(channel=row, by=scope.actor)
        messages.success(scope.request, f"The channel {row.name} is deleted.")
        return redirect(scope.url("notifications"))
    return scope.render("notifications/channel_delete.html", {"channel": row})


@tenant_page(_MANAGE)
def delivery(scope: TenantScope, delivery: str) -> HttpResponseBase:
    """Show a delivery with its attempts; on POST replay it and redirect to its channel."""
    row = reads.get_delivery(scope.tenant, delivery)
    if scope.request.method == "POST":
        notification_channels.replay(delivery=row, by=scope.actor)
        messages.success(scope.request, "The event is being sent again.")
        return redirect(scope.url("channel", str(row.channel_id)))
    context = {"delivery": row, "attempts": row.log.order_by("at", "id")}
    return scope.render("notifications/delivery.html", context)


def _saved(*, form: PreferencesForm, membership: Any) -> bool:
    choices = form.changed_choices()
    notification_preferences.set_own(membership=membership, choices=choices)
    return True


def _change_form(row: Channel, sent: Any = None) -> ChannelChangeForm:
    present = {"name": row.name, "kinds": row.kinds, "enabled": row.disabled_at is None}
    return ChannelChangeForm(sent, initial=present)


def _channel_page(
    scope: TenantScope, row: Channel, *, form: ChannelChangeForm | None = None, secret: str = ""
) -> HttpResponseBase:
    # No redirect after a new secret: it is stored encrypted, and only this response shows it.
    form = form or _change_form(row)
    context = {
        "channel": row,
        "form": form,
        "secret": secret,
        "page": scope.page_of(reads.list_deliveries(scope.tenant, channel=row.pk)),
    }
    response = scope.render("notifications/channel.html", context, form_status(form))
    if secret:
        response["Cache-Control"] = "no-store"
    return response
