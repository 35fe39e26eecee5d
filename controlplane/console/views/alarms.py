"""The pages of alarms: of one address, and of all addresses of a tenant."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import as_command, buttons_as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.notifications import AlarmForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import address_frame
from tenants.actions import alarms
from tenants.models import Address
from tenants.notifications import reads
from tenants.notifications.models import AddressAlarm
from tenants.permissions import Permission


@tenant_page(Permission.VIEW, change=Permission.MANAGE_MESSAGING)
def page(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """List the alarms of an address; on POST create one. ``address`` is the id."""
    found = address_frame.find(scope, space, address)
    form = AlarmForm(scope.request.POST or None) if scope.may["manage_messaging"] else None
    if form is not None and form.is_valid() and not scope.shows_command:
        if form.attempted(
            alarms.create,
            address=found,
            metric=form.cleaned_data["metric"],
            limits=form.limits(),
            by=scope.actor,
        ):
            messages.success(scope.request, "The alarm is set.")
            return redirect(scope.url("alarms", found.space.name, found.pk))
    listed = list(reads.list_alarms(found.space, found.address))
    context = {
        **address_frame.frame(scope, found, "alarms"),
        "alarms": listed,
        "alarm_buttons": buttons_as_command.of_alarms(scope.tenant.slug, found, listed),
        "form": form,
        "same": _as_command(scope, found, form),
    }
    return scope.render("spaces/alarms.html", context, form_status(form))


@tenant_page(Permission.VIEW)
def of_tenant(scope: TenantScope) -> HttpResponseBase:
    """List the alarms of all addresses of the tenant, raised ones first, in pages."""
    rows = reads.list_tenant_alarms(scope.tenant)
    raised = rows.filter(raised_at__isnull=False).count()
    return scope.render("team/alarms.html", {"page": scope.page_of(rows), "raised": raised})


@require_POST
@tenant_page(Permission.MANAGE_MESSAGING)
def delete(scope: TenantScope, space: str, address: str, alarm: str) -> HttpResponseBase:
    """Delete an alarm of an address, then redirect to the list; POST only."""
    found = address_frame.find(scope, space, address)
    alarms.delete(alarm=reads.get_alarm(found.space, alarm), by=scope.actor)
    messages.success(scope.request, "The alarm is deleted.")
    return redirect(scope.url("alarms", found.space.name, found.pk))


def _as_command(
    scope: TenantScope, address: Address, form: AlarmForm | None
) -> as_command.Equivalent | None:
    """Return the equivalent of creating the alarm that the form shows now; None without a form."""
    if form is None:
        return None
    valid = getattr(form, "cleaned_data", {})
    names = ("threshold", "for_seconds", "clear_below")
    given = {name: valid[name] for name in names if valid.get(name) is not None}
    # A command needs these, so a form without them shows an example.
    limits = {"threshold": 1000, "for_seconds": 60, **given}
    metric = valid.get("metric") or AddressAlarm.Metric.DEPTH.value
    return as_command.create_alarm(scope.tenant.slug, address, metric, limits)
