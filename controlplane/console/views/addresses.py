"""Pages of addresses: a new one, and deletion behind a typed confirmation."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import plan_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import AddressForm, ConfirmForm
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Missing
from plans import catalog
from plans.catalog import AddressPlanDefinition
from tenants import queries
from tenants.actions import addresses
from tenants.actions.addresses import AddressSettings
from tenants.models import Address, AddressSpace, AddressType
from tenants.permissions import Permission


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope, space: str) -> HttpResponseBase:
    """Make an address; after the first one the next page makes a user."""
    row = queries.get_space(scope.tenant, space)
    neighbours = list(queries.list_addresses(row))
    form = AddressForm(
        scope.request.POST or None,
        address_plans=_offered(row, neighbours),
        neighbours=neighbours,
    )
    if form.is_valid():
        plan = catalog.address_plan(form.cleaned_data["address_plan"])
        made = form.attempt(
            addresses.create,
            space=row,
            address=form.cleaned_data["address"],
            type=plan.address_type,
            address_plan=plan.key,
            settings=_settings(form),
            by=scope.actor,
        )
        if made:
            messages.success(scope.request, f"{made[0].address} is being made.")
            return redirect(scope.url("space", row.name))
    context = {
        "form": form,
        "space": row,
        "first": not neighbours,
        "currency": catalog.seller().currency,
    }
    return scope.render("spaces/address_new.html", context, form_status(form))


@tenant_page(Permission.MANAGE_MESSAGING)
def delete(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Delete an address and every message in it; ``address`` is its id: names may hold ``/../``."""
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
        "consequence": "Every message in it is gone for good. What it used until then is billed.",
        "verb": "Delete address",
        "back": scope.url("space", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def _offered(space: AddressSpace, neighbours: list[Address]) -> list[AddressPlanDefinition]:
    """Return the plans to choose from; a subscription needs a topic first."""
    has_topic = any(each.type == AddressType.TOPIC for each in neighbours)
    return [
        plan
        for plan in plan_reads.address_plans(space)
        if has_topic or plan.address_type != AddressType.SUBSCRIPTION
    ]


def _settings(form: AddressForm) -> AddressSettings:
    asked = form.cleaned_data
    seconds = asked["message_ttl_seconds"]
    return AddressSettings(
        message_ttl_ms=seconds * 1000 if seconds else None,
        max_delivery_attempts=asked["max_delivery_attempts"],
        dead_letter=asked.get("dead_letter") or "",
        topic=asked.get("topic") or "",
    )
