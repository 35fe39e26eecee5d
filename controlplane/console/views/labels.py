"""Pages of the labels of a space and of an address."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.labels import LabelsForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import address_frame
from tenants import label_rules, queries
from tenants.actions import labels
from tenants.models import Address, AddressSpace
from tenants.permissions import Permission


@tenant_page(Permission.MANAGE_MESSAGING)
def of_space(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the form of a space's labels; on POST replace them."""
    row = queries.get_space(scope.tenant, space)
    return _page(scope, row, row.name, scope.url("space_settings", row.name))


@tenant_page(Permission.MANAGE_MESSAGING)
def of_address(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Show the form of an address's labels; on POST replace them. ``address`` is the id."""
    row = address_frame.find(scope, space, address)
    return _page(scope, row, row.address, scope.url("address_settings", row.space.name, row.pk))


def _page(
    scope: TenantScope, row: AddressSpace | Address, name: str, back: str
) -> HttpResponseBase:
    form = LabelsForm(scope.request.POST or None, initial={"labels": label_rules.text(row.labels)})
    wanted = row.labels
    if form.is_valid():
        wanted = form.cleaned_data["labels"]
    if form.is_valid() and not scope.shows_command:
        is_same = row.labels == wanted
        if is_same or form.attempted(labels.replace, row=row, labels=wanted, by=scope.actor):
            messages.success(scope.request, f"The labels of {name} are saved.")
            return redirect(back)
    same = as_command.change_labels(scope.tenant.slug, row, wanted)
    context = {"form": form, "name": name, "back": back, "same": same}
    return scope.render("spaces/labels.html", context, form_status(form))
