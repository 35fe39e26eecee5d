"""Views of spaces: list, creation, addresses, state, activity, change of plan and deletion."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console import as_command, plan_reads, space_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.lists import AddressListForm, SpaceListForm
from controlplane.console.forms.space_deletion import DeleteSpaceForm
from controlplane.console.forms.spaces import SpaceForm, SpacePlanForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import space_frame
from controlplane.core import restarts
from plans.catalog import publishing
from plans.catalog.definitions import SpacePlanDefinition
from plans.quotas.resources import Resource
from tenants import admission, live_readings, queries
from tenants.actions import address_spaces, new_spaces, space_plans
from tenants.models import SpaceType
from tenants.permissions import Permission


@tenant_page(Permission.VIEW)
def space_list(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's spaces that are not deleted and that the filter selects, in pages."""
    listed = SpaceListForm(scope.request.GET)
    page = scope.page_of(listed.apply(space_reads.listed(scope.tenant)))
    context = {"filter": listed, "page": page, "spaces": page.object_list}
    return scope.render("spaces/list.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope) -> HttpResponseBase:
    """Show the form for a new space; on POST create the space.

    Then redirect to the form for its first address.
    """
    offered = plan_reads.space_plans(scope.tenant)
    form = SpaceForm(
        scope.request.POST or None,
        space_plans=offered,
        keeps=[kind for kind in SpaceType if new_spaces.cheapest_plan(scope.tenant, kind)],
    )
    if form.is_valid() and not scope.shows_command:
        # The form offers plans only: a plan determines the type of the space.
        plan = publishing.space_plan(form.cleaned_data["space_plan"])
        made = form.attempt(
            new_spaces.create,
            tenant=scope.tenant,
            name=form.cleaned_data["name"],
            type=plan.space_type,
            space_plan=plan.key,
            by=scope.actor,
            # None: if there is a plan for it in spaces of the chosen type.
            with_dead_letters=None if form.cleaned_data.get("dead_letters") else False,
        )
        if made:
            messages.success(
                scope.request, f"{made[0].name} is being created. Add its first address."
            )
            return redirect(scope.url("address_new", made[0].name))
    prices = plan_reads.hour_prices(scope.tenant, Resource.SPACES, offered)
    context = {"form": form, "prices": prices, "same": _as_command(scope, form, offered)}
    return scope.render("spaces/new.html", context, form_status(form))


@tenant_page(Permission.VIEW)
def detail(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show a space's state, its addresses with their newest readings, and the next step."""
    row = queries.get_space(scope.tenant, space)
    listed = AddressListForm(scope.request.GET)
    page = scope.page_of(listed.apply(queries.list_addresses(row)))
    readings = live_readings.of_addresses(row, page.object_list)
    now = timezone.now()
    context = {
        **space_frame.frame(scope, row, "space"),
        "filter": listed,
        "page": page,
        "readings": readings,
        "stale": {id_ for id_, reading in readings.items() if reading.is_stale(now)},
        "next_step": space_frame.next_step(scope, row),
    }
    return scope.render("spaces/addresses.html", context)


@tenant_page(Permission.VIEW)
def status(scope: TenantScope, space: str) -> HttpResponseBase:
    """Return only the card with a space's state, which htmx polls while the space changes.

    Answers 204 if the card is unchanged (``?seen=`` is its hash). htmx then keeps the old card, and
    screen readers do not read it again. A newer time of the last test message alone is no change.
    """
    row = queries.get_space(scope.tenant, space)
    context = space_frame.status_context(row)
    if scope.request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return scope.render("spaces/status.html", context)


@tenant_page(Permission.VIEW)
def activity(scope: TenantScope, space: str) -> HttpResponseBase:
    """List the operations on a space, its addresses, messages and users, with their outcome."""
    row = queries.get_space(scope.tenant, space)
    page = scope.page_of(space_reads.operations(row))
    context = {
        **space_frame.frame(scope, row, "space_activity"),
        "page": page,
        "operations": [space_frame.shown(operation) for operation in page],
    }
    return scope.render("spaces/activity.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def plan(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the form for a space's new plan; on POST request the change.

    The form says what restarts and how the new plan is billed. It offers plans of the space's type
    only.
    """
    row = queries.get_space(scope.tenant, space)
    offered = [
        candidate
        for candidate in plan_reads.space_plans(scope.tenant)
        if candidate.space_type == row.type  # a space cannot change its type
    ]
    form = SpacePlanForm(
        scope.request.POST or None, space_plans=offered, current=row.space_plan.key
    )
    if form.is_valid() and not scope.shows_command:
        operation = form.attempt(
            space_plans.change,
            space=row,
            space_plan=form.cleaned_data["space_plan"],
            by=scope.actor,
        )
        if operation is not None:
            told = restarts.sentence(operation.restarts)
            messages.success(scope.request, f"{row.name} is changing to its new plan. {told}")
            return redirect(scope.url("space", row.name))
    context = {
        "form": form,
        "space": row,
        "plans": [
            (candidate, restarts.sentence(space_plans.restarts(row, candidate)))
            for candidate in offered
        ],
        "prices": plan_reads.hour_prices(scope.tenant, Resource.SPACES, offered),
        "same": as_command.change_space_plan(
            scope.tenant.slug, row.name, form["space_plan"].value() or "PLAN", type=row.type
        ),
        "has_choice": any(candidate.key != row.space_plan.key for candidate in offered),
        "plan_title": admission.plan_of(scope.tenant).title,
    }
    return scope.render("spaces/plan.html", context, form_status(form))


@tenant_page(Permission.VIEW, change=Permission.MANAGE_MESSAGING)
def settings(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the facts of a space; on POST with the typed name, request its deletion.

    Only members who may delete the space see the form, and only until its deletion begins.
    """
    row = queries.get_space(scope.tenant, space)
    # Members who may not delete see the page without a form, and so does everyone once the deletion
    # has begun.
    form = None
    if scope.may["manage_messaging"] and not row.deletion_requested_at:
        has_volumes = publishing.space_plan_definition(row.space_plan).broker_persistent
        form = DeleteSpaceForm(
            scope.request.POST or None, expected=row.name, has_volumes=has_volumes
        )
        if (not scope.shows_command and form.is_valid()) and form.attempted(
            address_spaces.delete,
            space=row,
            by=scope.actor,
            keep_volumes=form.keeps_volumes,
        ):
            messages.success(scope.request, f"{row.name} is being deleted.")
            return redirect(scope.url("spaces"))
    keeps = form is not None and form.keeps_volumes
    same = as_command.delete_space(scope.tenant.slug, row.name, keeps_volumes=keeps)
    context = {**space_frame.frame(scope, row, "space_settings"), "form": form, "same": same}
    return scope.render("spaces/settings.html", context, form_status(form))


def _as_command(
    scope: TenantScope, form: SpaceForm, offered: Sequence[SpacePlanDefinition]
) -> as_command.Equivalent:
    """Return the equivalent of creating the space that the form shows now."""
    chosen = form["space_plan"].value()
    types = {plan.key: plan.space_type for plan in offered}
    kind = types.get(chosen, "")
    wants = "dead_letters" in form.fields and form["dead_letters"].value()
    keeps = new_spaces.cheapest_plan(scope.tenant, kind) or None
    return as_command.create_space(
        scope.tenant.slug,
        form["name"].value() or "",
        kind or "TYPE",
        chosen or "PLAN",
        dead_letter_plan=keeps if wants or keeps is None else "",
    )
