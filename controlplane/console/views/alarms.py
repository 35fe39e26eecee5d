"""The page of an address's alarms."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.notifications import AlarmForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import address_frame
from tenants.actions import alarms
from tenants.notifications import reads
from tenants.permissions import Permission


@tenant_page(Permission.VIEW, change=Permission.MANAGE_MESSAGING)
def page(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """List the alarms of an address; on POST create one. ``address`` is the id."""
    found = address_frame.find(scope, space, address)
    form = AlarmForm(scope.request.POST or None) if scope.may["manage_messaging"] else None
    if form is not None and form.is_valid():
        if form.attempted(
            alarms.create,
            address=found,
            metric=form.cleaned_data["metric"],
            limits=form.limits(),
            by=scope.actor,
        ):
            messages.success(scope.request, "The alarm is set.")
            return redirect(scope.url("alarms", found.space.name, found.pk))
    context = {
        **address_frame.frame(scope, found, "alarms"),
        "alarms": reads.list_alarms(found.space, found.address),
        "form": form,
    }
    return scope.render("spaces/alarms.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_MESSAGING)
def delete(scope: TenantScope, space: str, address: str, alarm: str) -> HttpResponseBase:
    """Delete an alarm of an address, then redirect to the list; POST only."""
    found = address_frame.find(scope, space, address)
    alarms.delete(alarm=reads.get_alarm(found.space, alarm), by=scope.actor)
    messages.success(scope.request, "The alarm is deleted.")
    return redirect(scope.url("alarms", found.space.name, found.pk))
