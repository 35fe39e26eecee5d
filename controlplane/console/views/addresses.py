"""Pages of an address: its newest reading and history, creation, deletion."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console import address_charts, as_command, plan_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import AddressForm, ConfirmForm
from controlplane.console.scope import NavItem, TenantScope
from controlplane.console.views import address_frame
from controlplane.core.address_types import SETTINGS
from controlplane.core.setting_values import Reference
from plans.catalog import publishing
from plans.catalog.definitions import AddressPlanDefinition
from plans.quotas.resources import Resource
from tenants import live_readings, queries, reading_history
from tenants.actions import addresses
from tenants.models import Address, AddressSpace
from tenants.permissions import Permission

_MINUTE = timedelta(minutes=1)


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the form for a new address; on POST create the address.

    Then redirect to the space's page, which shows the next step.
    """
    row = queries.get_space(scope.tenant, space)
    existing = list(queries.name_addresses(row))
    plans = creatable_plans(row, existing)
    types = list(dict.fromkeys(plan.address_type for plan in plans))
    chosen = _chosen_type(scope, plans, types)
    form = AddressForm(
        scope.request.POST or None,
        address_plans=[plan for plan in plans if plan.address_type == chosen],
        existing=existing,
    )
    if form.is_valid() and not scope.shows_command:
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
        "first": not queries.has_clients_addresses(row),
        "same": as_command.create_address(
            scope.tenant.slug,
            row,
            form["address"].value() or "",
            form.given(),
            type=chosen or "TYPE",
            plan=form["address_plan"].value() or "PLAN",
        ),
        "types": types,
        "chosen": chosen,
        "prices": plan_reads.hour_prices(scope.tenant, Resource.ADDRESSES, form.address_plans),
    }
    return scope.render("spaces/address_new.html", context, form_status(form))


@tenant_page(Permission.VIEW)
def detail(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Show an address: its newest reading, and charts of its history over ``?span=``.

    ``address`` is the id. Without a known span the charts cover the last hour.
    """
    found = address_frame.find(scope, space, address)
    span = scope.request.GET.get("span", "1h")
    span = span if span in reading_history.SPANS else "1h"
    series = reading_history.read(found, span, timezone.now())
    own = scope.url("address", found.space.name, found.id)
    context = {
        **address_frame.frame(scope, found, "address"),
        **live_context(found, timezone.now()),
        "spans": [
            NavItem(title, f"{own}?span={key}", key == span)
            for key, title in address_charts.TITLES.items()
        ],
        "span_title": address_charts.TITLES[span],
        "shown": None if series.is_empty else address_charts.build(series, span),
    }
    return scope.render("spaces/address.html", context)


@tenant_page(Permission.VIEW)
def live(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Return only the card of an address's newest reading, which htmx polls.

    ``address`` is the id. Answers 204 if the reading and the address's phase are those that the
    browser shows (``?seen=`` is their hash).
    """
    context = live_context(address_frame.find(scope, space, address), timezone.now())
    if scope.request.GET.get("seen") == context["seen_live"]:
        return HttpResponse(status=204)
    return scope.render("spaces/address_live.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def delete(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Ask for confirmation; on POST with the typed name, request the deletion of an address.

    Every message in the address is deleted too. ``address`` is the id, because names may contain
    ``/../``, which browsers resolve in URLs.
    """
    found = address_frame.find(scope, space, address)
    row = found.space
    form = ConfirmForm(scope.request.POST or None, expected=found.address)
    if form.is_valid() and form.attempted(addresses.delete, address=found, by=scope.actor):
        messages.success(scope.request, f"{found.address} is being deleted.")
        return redirect(scope.url("space", row.name))
    context = {
        "form": form,
        "question": f"Delete {found.address}?",
        "consequence": "Every message in it is lost. Its usage until then is billed.",
        "verb": "Delete address",
        "same": as_command.delete_address(scope.tenant.slug, row.name, found.address),
        "back": scope.url("space", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def _chosen_type(
    scope: TenantScope, plans: Sequence[AddressPlanDefinition], types: Sequence[str]
) -> str:
    """Return the address type of the submitted plan, else of ``?type=``, else the first one."""
    submitted = scope.request.POST.get("address_plan")
    of_plan = next((plan.address_type for plan in plans if plan.key == submitted), "")
    wanted = of_plan or scope.request.GET.get("type", "")
    return wanted if wanted in types else next(iter(types), "")


def live_context(address: Address, now: datetime) -> dict[str, Any]:
    """Return the template context of the card with an address's newest reading.

    ``live_reading`` is None before the first reading. ``is_stale`` says whether the reading is too
    old to describe the present; it is False without a reading. ``seen_live`` is a hash of the
    reading, the address's phase, and the ages in minutes of the reading and of the last test
    message.
    """
    reading = live_readings.of_addresses(address.space, [address]).get(address.id)
    age = now - reading.as_of if reading else timedelta(0)
    # While an instance does not answer, only the age of the reading changes. The card must show it.
    probed = address.probed_at and (now - address.probed_at) // _MINUTE
    content = repr((reading, age // _MINUTE, address.phase, probed))
    return {
        "space": address.space,
        "address": address,
        "live_reading": reading,
        "is_stale": reading is not None and reading.is_stale(now),
        "seen_live": hashlib.sha256(content.encode()).hexdigest()[:16],
    }


def creatable_plans(
    space: AddressSpace, existing: Sequence[Address]
) -> list[AddressPlanDefinition]:
    """Return the address plans to choose from for a new address, sorted by type and price.

    ``existing`` are the space's addresses. A type that must refer to another address is left out
    while none of these can be referred to. So subscriptions are offered once there is a topic.
    """
    present = {address.type for address in existing}
    needed = {
        setting.value.refers_to[space.type][0]: setting.types
        for setting in SETTINGS
        if isinstance(setting.value, Reference) and setting.is_fixed
    }
    missing = {kind for target, kinds in needed.items() if target not in present for kind in kinds}
    return [plan for plan in plan_reads.address_plans(space) if plan.address_type not in missing]
