"""Pages that create an address, and delete one after a typed confirmation."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import plan_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import AddressForm, ConfirmForm
from controlplane.console.scope import TenantScope
from controlplane.core.address_types import SETTINGS, Reference
from controlplane.core.errors import Missing
from plans.catalog import publishing
from plans.catalog.definitions import AddressPlanDefinition
from tenants import queries
from tenants.actions import addresses
from tenants.models import Address, AddressSpace
from tenants.permissions import Permission


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope, space: str) -> HttpResponseBase:
    """Create an address, then redirect to the space's page with the next step."""
    row = queries.get_space(scope.tenant, space)
    existing = list(queries.list_addresses(row))
    form = AddressForm(
        scope.request.POST or None,
        address_plans=creatable_plans(row, existing),
        existing=existing,
    )
    if form.is_valid():
        # The form offers plans only: a plan determines the type of the address.
        plan = publishing.address_plan(form.cleaned_data["address_plan"])
        made = form.attempt(
            addresses.create,
            space=row,
            address=form.cleaned_data["address"],
            type=plan.address_type,
            address_plan=plan.key,
            settings=form.settings(),
            by=scope.actor,
        )
        if made:
            messages.success(scope.request, f"{made[0].address} is being created.")
            return redirect(scope.url("space", row.name))
    context = {
        "form": form,
        "space": row,
        "first": not existing,
        "currency": publishing.seller().currency,
    }
    return scope.render("spaces/address_new.html", context, form_status(form))


@tenant_page(Permission.MANAGE_MESSAGING)
def delete(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Delete an address and every message in it.

    ``address`` is the id, because names may contain ``/../``, which browsers resolve in URLs.
    """
    row = queries.get_space(scope.tenant, space)
    found = queries.list_addresses(row).filter(pk=address).first()
    if found is None:
        raise Missing("There is no such address; it may be deleted already.")
    form = ConfirmForm(scope.request.POST or None, expected=found.address)
    if form.is_valid() and form.attempted(addresses.delete, address=found, by=scope.actor):
        messages.success(scope.request, f"{found.address} is being deleted.")
        return redirect(scope.url("space", row.name))
    context = {
        "form": form,
        "question": f"Delete {found.address}?",
        "consequence": "Every message in it is lost. Its usage until then is billed.",
        "verb": "Delete address",
        "back": scope.url("space", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def creatable_plans(
    space: AddressSpace, existing: Sequence[Address]
) -> list[AddressPlanDefinition]:
    """Return the address plans to choose from, by type and price.

    A type that must refer to another address is left out while there is none. So subscriptions are
    offered once the space has a topic.
    """
    present = {address.type for address in existing}
    needed = {
        setting.value.refers_to: setting.types
        for setting in SETTINGS
        if isinstance(setting.value, Reference) and setting.is_fixed
    }
    missing = {kind for target, kinds in needed.items() if target not in present for kind in kinds}
    return [plan for plan in plan_reads.address_plans(space) if plan.address_type not in missing]
