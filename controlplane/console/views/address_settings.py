"""The page of an address's settings: a form for members who may change them, else a list."""

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms import address_settings
from controlplane.console.forms.address_settings import AddressSettingsForm
from controlplane.console.forms.base import form_status
from controlplane.console.forms.setting_fields import given
from controlplane.console.scope import TenantScope
from controlplane.console.views import address_frame
from controlplane.core import restarts
from plans.catalog import publishing
from tenants import queries
from tenants.actions import addresses
from tenants.permissions import Permission


@tenant_page(Permission.VIEW, change=Permission.MANAGE_MESSAGING)
def page(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Show the settings of an address; on POST request their change and redirect to this page.

    ``address`` is the id. The form replaces the plain list of settings only for members who may
    change them, and only while the address is not being deleted.
    """
    row = address_frame.find(scope, space, address)
    plan = publishing.address_plan_definition(row.address_plan)
    form = AddressSettingsForm(
        scope.request.POST or None,
        address=row,
        plan=plan,
        existing=list(queries.name_addresses(row.space)),
    )
    own = scope.url("address_settings", row.space.name, row.pk)
    if form.is_valid() and not scope.shows_command:
        # ``addresses.update`` would begin an operation that changes nothing.
        if form.settings() == row.settings:
            messages.info(scope.request, "Nothing is different, so nothing changes.")
            return redirect(own)
        changed = form.attempt(
            addresses.update,
            address=row,
            settings=form.settings(),
            # Somebody else may have changed the address since the page was shown.
            if_generation=form.cleaned_data["generation"],
            by=scope.actor,
        )
        if changed is not None:
            told = restarts.sentence(changed[1].restarts)
            messages.success(
                scope.request, f"The settings of {row.address} are being changed. {told}"
            )
            return redirect(own)
    wanted = form.settings() if form.is_bound and form.is_valid() else row.settings
    offered = {setting.name for setting in address_settings.offered(row)}
    values = {name: value for name, value in asdict(wanted).items() if name in offered}
    is_editable = scope.may["manage_messaging"] and not row.deletion_requested_at
    context = {
        **address_frame.frame(scope, row, "address_settings"),
        "form": form if is_editable and form.shown else None,
        "fixed": address_settings.fixed(row),
        "shown": address_settings.shown(row, plan),
        "own": own,
        "same": as_command.change_address(scope.tenant.slug, row, given(values)),
        "restarts": restarts.sentence(restarts.NONE),
    }
    return scope.render("spaces/address_settings.html", context, form_status(form))
