"""`waypost quotas`, `audit` and `operations`: what a tenant may use, who did what, what runs."""

from itertools import islice
from typing import Annotated

import typer

from controlplane.cli import calls, limits, listing, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client.api import audit_events, operations, quotas
from controlplane.rest_client import Api, Json

quotas_app = typer.Typer(no_args_is_help=True, help="Limits of the tenant, and how much it uses.")
audit_app = typer.Typer(no_args_is_help=True, help="Who changed what in the tenant.")
operations_app = typer.Typer(no_args_is_help=True, help="Long-running changes: list, show, wait.")
Newest = Annotated[int, typer.Option("--limit", min=1, help="At most so many, the newest.")]


@quotas_app.command("list")
@slow.change
def list_quotas(*, how: listing.TenantRows) -> None:
    """List the limits of the tenant, and how much it uses of each."""
    columns = ["resource", "title", "used", "landed", "tail", "limit", "at_quota", "as_of"]
    rows = calls.tenant_list(quotas.list_quotas.sync_detailed)
    listing.show(how, rows, columns, limits.in_unit)


@audit_app.command("list")
@slow.change
def list_audit(limit: Newest = 50, *, how: listing.TenantRows) -> None:
    """List what was changed in the tenant, the newest first."""
    columns = ["at", "actor", "action", "subject_type", "subject_name", "reason"]
    rows = calls.tenant_list(audit_events.list_audit_events.sync_detailed)
    # ``islice`` requests no page that it does not need. ``--filter`` searches these rows only.
    listing.show(how, lambda api, tenant: islice(rows(api, tenant), limit), columns)


@operations_app.command("list")
@slow.change
def list_operations(limit: Newest = 50, *, how: listing.TenantRows) -> None:
    """List running and ended operations, the newest first."""
    columns = ["id", "kind", "subject_name", "state", "created_at", "error_message"]
    rows = calls.tenant_list(operations.list_operations.sync_detailed)
    listing.show(how, lambda api, tenant: islice(rows(api, tenant), limit), columns)


@operations_app.command()
def show(operation: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show an operation with its steps."""
    api, tenant = login_store.connect(tenant)
    output.show_one(_operation(api, tenant, operation), form)


@operations_app.command()
def wait(operation: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Wait until an operation has ended, such as one of a command with --no-wait."""
    api, tenant = login_store.connect(tenant)
    found = _operation(api, tenant, operation)
    with output.progress(f"{found['kind']} of {found['subject_name']}") as progress:
        ended = api.wait(tenant, found, progress=progress)
    output.show_one(ended, form)


def _operation(api: Api, tenant: str, operation: str) -> Json:
    answer = operations.get_operation.sync_detailed(
        tenant, calls.named(operation), client=api.client
    )
    return calls.body(api, answer)
