"""`waypost staff`: what operators do with tenants, quotas and kept volumes, and its parts."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

from controlplane.cli import (
    calls,
    close_runs,
    credit,
    exports,
    limits,
    listing,
    login_store,
    output,
    payments,
    prices,
    selling,
    slow,
    staff_credit_notes,
    staff_invoices,
    tokens,
)
from controlplane.cli.options import Reason, Slug, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import staff
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Json, Refused

app = typer.Typer(no_args_is_help=True, help="For operators: tenants, quotas, invoices, volumes.")
tenants_app = typer.Typer(no_args_is_help=True, help="All tenants of the installation.")
quotas_app = typer.Typer(no_args_is_help=True, help="Limits of one tenant, and their overrides.")
volumes_app = typer.Typer(no_args_is_help=True, help="Kept volumes of deleted spaces.")
app.add_typer(tenants_app, name="tenants")
app.add_typer(quotas_app, name="quotas")
app.add_typer(staff_invoices.app, name="invoices")
app.add_typer(staff_credit_notes.app, name="credit-notes")
app.add_typer(close_runs.app, name="close-runs")
app.add_typer(volumes_app, name="volumes")
app.add_typer(credit.staff_app, name="credit")
app.add_typer(prices.app, name="prices")
app.add_typer(payments.staff_app, name="payments")
app.add_typer(payments.dunning_app, name="dunning")
app.add_typer(selling.staff_seller_app, name="seller")
app.add_typer(selling.staff_tax_app, name="tax")
app.add_typer(exports.staff_app, name="finance")
Resource = Annotated[str, typer.Argument(help="A resource, as `quotas list` shows it.")]


@tenants_app.command("list")
@slow.change
def list_tenants(
    search: Annotated[str, typer.Option(help="Part of a name or short name.")] = "",
    suspended: Annotated[bool, typer.Option("--suspended", help="Only suspended ones.")] = False,
    closing: Annotated[
        bool, typer.Option("--closing", help="Only those that are being closed, or erased.")
    ] = False,
    *,
    how: listing.Rows,
) -> None:
    """List all tenants with their plans."""

    def read(api: Api) -> Iterator[Json]:
        page = partial(
            staff.list_all_tenants.sync_detailed,
            client=api.client,
            search=calls.given(search),
            # UNSET, because false would select those that are not suspended.
            suspended=suspended or UNSET,
            closing=closing or UNSET,
        )
        return calls.rows(api, page)

    columns = [
        "slug",
        "name",
        "plan",
        "plan_version",
        "follows_plan",
        "created_at",
        "suspended_at",
        "erase_at",
    ]
    listing.show_shared(how, read, columns)


@tenants_app.command("show")
def show_tenant(slug: Slug, form: Output = Format.TABLE) -> None:
    """Show a tenant: its plan, its suspension, and when it is erased."""
    api = login_store.connect_staff()
    answer = staff.get_tenant_staff.sync_detailed(calls.named(slug), client=api.client)
    output.show_one(calls.body(api, answer), form)


@tenants_app.command()
def suspend(
    slug: Slug,
    reason: Annotated[str, typer.Option(help="Why; all members of the tenant read it.")],
    yes: Yes = False,
    form: Output = Format.TABLE,
) -> None:
    """Suspend a tenant: its programs cannot send, and its members change nothing."""
    calls.named(slug)
    if not yes:
        output.confirm(f"Suspend {slug}? Its programs can no longer send.")
    api = login_store.connect_staff()
    answer = staff.suspend_tenant.sync_detailed(
        slug, client=api.client, body=models.SuspensionRequest(reason=reason)
    )
    output.show_one(calls.body(api, answer), form)


@tenants_app.command()
def restore(slug: Slug, form: Output = Format.TABLE) -> None:
    """End the suspension of a tenant: sending works again in a moment."""
    api = login_store.connect_staff()
    answer = staff.restore_tenant.sync_detailed(calls.named(slug), client=api.client)
    output.show_one(calls.body(api, answer), form)


@quotas_app.command("list")
@slow.change
def list_quotas(slug: Slug, *, how: listing.Rows) -> None:
    """List the limits of a tenant with its use, and which of them are overridden."""
    columns = ["resource", "unit", "used", "limit", "override", "reason", "expires_at"]
    calls.named(slug)

    def read(api: Api) -> list[Json]:
        answer = staff.list_tenant_quotas.sync_detailed(slug, client=api.client)
        found = calls.body(api, answer)
        overrides = {one["resource"]: one for one in found["overrides"]}
        nothing = {"amount": None, "reason": None, "expires_at": None}
        return [
            {
                **limit,
                "override": override["amount"],
                "reason": override["reason"],
                "expires_at": override["expires_at"],
            }
            for limit in found["items"]
            for override in [overrides.get(limit["resource"], nothing)]
        ]

    listing.show_shared(how, read, columns, limits.in_unit)


@quotas_app.command("set")
def override(
    slug: Slug,
    resource: Resource,
    amount: Annotated[int, typer.Argument(min=0, help="The limit, in place of the plan's.")],
    reason: Reason,
    expires: Annotated[
        str, typer.Option(help="When it ends: 30d, a date or a time; never.")
    ] = "never",
    form: Output = Format.TABLE,
) -> None:
    """Override a limit of a tenant, in place of an earlier override."""
    api = login_store.connect_staff()
    body = {"amount": amount, "reason": reason, "expires_at": tokens.expiry(expires)}
    # A PUT says which state it changes: the override that was read, or that there is none.
    tag = _tag_of_override(api, calls.named(slug), calls.named(resource))
    answer = staff.override_quota.sync_detailed(
        slug,
        resource,
        client=api.client,
        body=models.OverrideRequest.from_dict(body),
        if_match=tag or UNSET,
        if_none_match=UNSET if tag else "*",
    )
    output.show_one(calls.body(api, answer), form)


def _tag_of_override(api: Api, slug: str, resource: str) -> str | None:
    """Return the ETag of an override; None if there is none.

    It is ``*`` if the server is of an older version, which does not show a single override.
    """
    try:
        return calls.tag(staff.get_override.sync_detailed(slug, resource, client=api.client))
    except Refused as refused:
        if refused.http_status == 404:
            return None
        if refused.http_status == 405:  # it can only be written
            return "*"
        raise


@quotas_app.command("clear")
def clear_override(slug: Slug, resource: Resource, yes: Yes = False) -> None:
    """Remove an override, so that the plan's limit applies again."""
    if not yes:
        output.confirm(f"Remove the override of {resource} of {slug}?")
    api = login_store.connect_staff()
    staff.drop_override.sync_detailed(calls.named(slug), calls.named(resource), client=api.client)
    output.say(f"{resource} of {slug} has the plan's limit again")


@volumes_app.command("list")
@slow.change
def list_volumes(*, how: listing.Rows) -> None:
    """List the volumes that were kept when spaces were deleted."""
    columns = ["space_id", "space", "deleted_at", "released_at", "gone_at"]
    listing.show_shared(how, calls.shared_list(staff.list_kept_volumes.sync_detailed), columns)


@volumes_app.command()
def release(
    space: Annotated[str, typer.Argument(help="The id of the space.")],
    yes: Yes = False,
    form: Output = Format.TABLE,
) -> None:
    """Delete the kept volumes of a deleted space, with all messages in them."""
    if not yes:
        output.confirm(f"Delete the kept volumes of {space} with every message in them?")
    api = login_store.connect_staff()
    answer = staff.release_kept_volumes.sync_detailed(
        calls.named(space), client=api.client, idempotency_key=calls.new_key()
    )
    output.show_one(calls.body(api, answer), form)
