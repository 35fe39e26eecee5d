"""Views of a tenant's notifications: own preferences, defaults, channels and their deliveries."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import as_command, buttons_as_command
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
from tenants.notifications import preferences, reads, subscriptions
from tenants.notifications.models import Channel, SpendBudget
from tenants.permissions import Permission

_MANAGE = Permission.MANAGE_NOTIFICATIONS


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show what the member gets by mail; on POST save it. Managers also see the channels."""
    membership = queries.membership(scope.user, scope.tenant.slug)
    form = PreferencesForm(scope.request.POST or None, choices=preferences.choices(membership))
    changed = form.changed_choices() if form.is_valid() else {}
    if form.is_valid() and not scope.shows_command:
        # ``set_own`` returns nothing, so only the form says whether it was refused.
        form.attempt(notification_preferences.set_own, membership=membership, choices=changed)
        if not form.errors:
            messages.success(scope.request, "Your preferences are saved.")
            return redirect(scope.url("notifications"))
    # ``may_end``: in a suspended organization channels can still be deleted.
    channels = reads.list_channels(scope.tenant) if scope.may_end[_MANAGE] else None
    same = buttons_as_command.own_preferences(scope.tenant.slug, changed)
    context = {"form": form, "channels": channels, "same": same}
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
    budget_form = BudgetForm(
        scope.request.POST or None, initial={"budget": amount}, currency=currency
    )
    changed: dict[str, bool | None] = {}
    amount_minor = stored.amount_minor if stored else None
    if form.is_valid() and budget_form.is_valid():
        changed = {
            kind: form.cleaned_data[kind] for kind in form.changed_data if kind in form.fields
        }
        amount_minor = budget_form.cleaned_data["budget"]
    if form.is_valid() and budget_form.is_valid() and not scope.shows_command:
        # It returns nothing, so only the form says whether it was refused.
        budget_form.attempt(
            notification_preferences.set_defaults_and_budget,
            tenant=scope.tenant,
            choices=changed,
            amount_minor=amount_minor,
            by=scope.actor,
        )
        if not budget_form.errors:
            messages.success(scope.request, "The defaults are saved.")
            return redirect(scope.url("notifications"))
    same = buttons_as_command.default_preferences(scope.tenant.slug, changed, amount_minor)
    context = {"form": form, "budget_form": budget_form, "currency": currency, "same": same}
    status = form_status(form, budget_form)
    return scope.render("notifications/defaults.html", context, status)


@tenant_page(_MANAGE)
def channel_new(scope: TenantScope) -> HttpResponseBase:
    """Show the form for a new channel; on POST create it and show its secret, once."""
    form = ChannelForm(scope.request.POST or None)
    if form.is_valid() and not scope.shows_command:
        values = form.cleaned_data
        # A channel reveals events, so its maker must be allowed to see them.
        subscriptions.require_new(values["kinds"], scope.has)
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
    same = as_command.create_channel(
        scope.tenant.slug,
        form["name"].value() or "",
        form["kind"].value() or Channel.Kind.WEBHOOK.value,
        form["url"].value() or "",
        form["kinds"].value() or [],
    )
    context = {"form": form, "same": same}
    return scope.render("notifications/channel_new.html", context, form_status(form))


@tenant_page(_MANAGE)
def channel(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Show a channel with its deliveries; on POST change it."""
    row = reads.get_channel(scope.tenant, channel)
    form = _change_form(row, scope.request.POST or None)
    if form.is_valid() and not scope.shows_command:
        values = form.cleaned_data
        url = values["url"] or None
        with notification_channels.held(row) as current:
            subscriptions.require_changed(current, values["kinds"], url, scope.has)
            saved = form.attempted(
                notification_channels.update,
                channel=current,
                by=scope.actor,
                name=values["name"],
                url=url,
                kinds=values["kinds"],
                enabled=values["enabled"],
            )
        if saved:
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


@tenant_page(_MANAGE, ends_access=True)
def channel_delete(scope: TenantScope, channel: str) -> HttpResponseBase:
    """Ask whether to delete a channel; on POST delete it."""
    row = reads.get_channel(scope.tenant, channel)
    if scope.request.method == "POST":
        notification_channels.delete(channel=row, by=scope.actor)
        messages.success(scope.request, f"The channel {row.name} is deleted.")
        return redirect(scope.url("notifications"))
    same = as_command.delete_channel(scope.tenant.slug, row.pk)
    return scope.render("notifications/channel_delete.html", {"channel": row, "same": same})


@tenant_page(_MANAGE)
def delivery(scope: TenantScope, delivery: str) -> HttpResponseBase:
    """Show a delivery with its attempts; on POST replay it and redirect to its channel."""
    row = reads.get_delivery(scope.tenant, delivery)
    # A delivery shows its event, which may need more than the permission to manage channels.
    subscriptions.require([row.event.kind], scope.has)
    if scope.request.method == "POST":
        notification_channels.replay(delivery=row, by=scope.actor)
        messages.success(scope.request, "The event is being sent again.")
        return redirect(scope.url("channel", str(row.channel_id)))
    buttons = buttons_as_command.replay(scope.tenant.slug, row.pk)
    context = {"delivery": row, "attempts": row.log.order_by("at", "id"), "buttons": buttons}
    return scope.render("notifications/delivery.html", context)


def _change_form(row: Channel, sent: Any = None) -> ChannelChangeForm:
    present = {"name": row.name, "kinds": row.kinds, "enabled": row.disabled_at is None}
    return ChannelChangeForm(sent, initial=present)


def _channel_page(
    scope: TenantScope, row: Channel, *, form: ChannelChangeForm | None = None, secret: str = ""
) -> HttpResponseBase:
    # No redirect after a new secret: it is stored encrypted, and only this response shows it.
    form = form or _change_form(row)
    changes = {name: form[name].value() for name in ("name", "url", "kinds", "enabled")}
    if not changes["url"]:  # it stays as it is
        del changes["url"]
    context = {
        "same": as_command.change_channel(scope.tenant.slug, row.pk, changes),
        "channel": row,
        "buttons": buttons_as_command.of_channel(scope.tenant.slug, row),
        "form": form,
        "secret": secret,
        "page": scope.page_of(reads.list_deliveries(scope.tenant, channel=row.pk)),
    }
    response = scope.render("notifications/channel.html", context, form_status(form))
    if secret:
        response["Cache-Control"] = "no-store"
    return response
