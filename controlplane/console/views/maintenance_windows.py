"""The page of a tenant's maintenance windows: when upgrades may restart its spaces."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console import as_command, buttons_as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.windows import RemoveWindowForm, WindowForm, described
from controlplane.console.scope import TenantScope
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.permissions import Permission


@tenant_page(Permission.VIEW, change=Permission.MANAGE_MESSAGING)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the maintenance windows; on POST add one, or remove the one that ``remove`` names."""
    windows = [
        rollouts.Window(row.weekday, row.starts_at, row.minutes)
        for row in scope.tenant.maintenance_windows.order_by("weekday", "starts_at")
    ]
    # The page has two forms: only that of the removal has the field ``remove``.
    posted = scope.request.POST
    form = WindowForm(posted if posted and "remove" not in posted else None)
    removal = RemoveWindowForm(posted if "remove" in posted else None, windows=windows)
    wanted = None
    # The command on the page adds the suggested window until a form is sent.
    added = None if form.is_bound else form.initial_window()
    if form.is_valid():
        added = form.window()
        wanted = None if scope.shows_command else [*windows, added]
    elif removal.is_valid():
        wanted = [window for window in windows if window != removal.cleaned_data["remove"]]
    submitted = form if form.is_bound else removal
    if wanted is not None:
        # ``set_windows`` returns nothing, so only the form says whether it was refused.
        submitted.attempt(actions.set_windows, tenant=scope.tenant, windows=wanted, by=scope.actor)
        if not submitted.errors:
            messages.success(scope.request, "Your maintenance windows are saved.")
            return redirect(scope.url("windows"))
    now = timezone.now()
    context = {
        "windows": [(str(window), described(window), window.contains(now)) for window in windows],
        "form": form if scope.may["manage_messaging"] else None,
        "removal": removal,
        "same": as_command.set_windows(scope.tenant.slug, windows, added),
        "window_buttons": buttons_as_command.of_windows(scope.tenant.slug, windows),
        "allows_now": not windows or any(window.contains(now) for window in windows),
    }
    return scope.render("team/windows.html", context, form_status(form, removal))
