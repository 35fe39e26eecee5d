"""Actions on several rows of a list: delete addresses, revoke messaging users.

The list posts the chosen ids. The answer is a page that asks for confirmation. The POST of that
page acts on each row separately, and reports which rows could not be changed, and why.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import buttons_as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import BulkForm
from controlplane.console.scope import TenantScope
from controlplane.core import address_order
from controlplane.core.errors import WaypostError
from tenants import queries
from tenants.actions import addresses, messaging_users
from tenants.permissions import Permission


@dataclass(frozen=True)
class _Bulk:
    """One action on several rows: what each row is called, and what is done to it.

    ``rows`` are (id, name, function that requests the action). ``one`` and ``many`` name the rows,
    ``verb`` and ``done`` the action, as in ``Delete`` and ``being deleted``. ``call`` is the name
    of the action in the API.
    """

    rows: Sequence[tuple[str, str, Callable[[], object]]]
    one: str
    many: str
    verb: str
    done: str
    consequence: str
    back: str
    call: str

    @property
    def counted(self) -> str:
        n = len(self.rows)
        return f"{n:,} {self.one if n == 1 else self.many}"


@require_POST
@tenant_page(Permission.MANAGE_MESSAGING)
def delete_addresses(scope: TenantScope, space: str) -> HttpResponseBase:
    """Ask for confirmation; on a confirmed POST request the deletion of the chosen addresses."""
    row = queries.get_space(scope.tenant, space)
    rows = queries.list_addresses(row).select_related("space__tenant")
    chosen = rows.filter(pk__in=_ids(scope), deletion_requested_at__isnull=True)
    # An address can be deleted only after those that name it, such as a topic's subscriptions.
    level = address_order.levels({one.address: asdict(one.settings) for one in chosen})
    ordered = sorted(chosen, key=lambda one: -level[one.address])
    # ``one=one`` binds the row of this turn. Without it, each function would act on the last row.
    bulk = _Bulk(
        [
            (one.pk, one.address, lambda one=one: addresses.delete(address=one, by=scope.actor))  # type: ignore[misc]
            for one in ordered
        ],
        one="address",
        many="addresses",
        verb="Delete",
        done="being deleted",
        consequence="Every message in them is lost. Their usage until then is billed.",
        back=scope.url("space", row.name),
        call="delete-addresses",
    )
    return _page(scope, row.name, bulk)


@require_POST
@tenant_page(Permission.MANAGE_MESSAGING, ends_access=True)
def revoke_users(scope: TenantScope, space: str) -> HttpResponseBase:
    """Ask for confirmation; on a confirmed POST revoke the chosen messaging users."""
    row = queries.get_space(scope.tenant, space)
    rows = queries.list_users(row).select_related("space__tenant")
    chosen = rows.filter(pk__in=_ids(scope), deletion_requested_at__isnull=True)
    bulk = _Bulk(
        [
            (one.pk, one.name, lambda one=one: messaging_users.revoke(user=one, by=scope.actor))  # type: ignore[misc]
            for one in chosen
        ],
        one="messaging user",
        many="messaging users",
        verb="Revoke",
        done="being revoked",
        consequence="Their open connections are closed and their passwords no longer work.",
        back=scope.url("space_users", row.name),
        call="revoke-users",
    )
    return _page(scope, row.name, bulk)


def _ids(scope: TenantScope) -> list[str]:
    return scope.request.POST.getlist("id")[: BulkForm.MOST]


def _page(scope: TenantScope, space: str, bulk: _Bulk) -> HttpResponseBase:
    """Show the confirmation of ``bulk``; on a confirmed POST do it and redirect to the list."""
    if not bulk.rows:
        messages.info(scope.request, f"Choose {bulk.many} in the list first.")
        return redirect(bulk.back)
    # The list posts here too, and has no such field.
    is_confirmed = "confirmation" in scope.request.POST
    form = BulkForm(
        scope.request.POST if is_confirmed else None,
        expected=space,
        chosen=[pk for pk, _, _ in bulk.rows],
    )
    if form.is_valid():
        _run(scope, bulk)
        return redirect(bulk.back)
    context = {
        "form": form,
        "question": f"{bulk.verb} {bulk.counted} of {space}?",
        "consequence": bulk.consequence,
        "listed": [name for _, name, _ in bulk.rows],
        "verb": f"{bulk.verb} {bulk.counted}",
        "back": bulk.back,
        "back_label": space,
        "same": buttons_as_command.bulk(
            scope.tenant.slug, space, bulk.call, [name for _, name, _ in bulk.rows]
        ),
    }
    return scope.render("confirm.html", context, form_status(form))


def _run(scope: TenantScope, bulk: _Bulk) -> None:
    """Do the action on each row; leave messages about how many succeeded and which did not."""
    n_done = 0
    for _, name, act in bulk.rows:
        try:
            act()
            n_done += 1
        except WaypostError as error:
            messages.error(scope.request, f"{name}: {error.message}")
    if n_done:
        noun = bulk.one if n_done == 1 else bulk.many
        verb = "is" if n_done == 1 else "are"
        messages.success(scope.request, f"{n_done:,} {noun} {verb} {bulk.done}.")
