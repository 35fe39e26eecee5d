"""`waypost usage` and `waypost invoices`: what was used, what it costs, and the proof."""

from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.rest_client import segment

usage_app = typer.Typer(no_args_is_help=True, help="Metered usage.")
invoices_app = typer.Typer(no_args_is_help=True, help="Invoices: list, show, preview, verify.")


@usage_app.command("show")
def show_usage(
    from_: Annotated[str | None, typer.Option("--from", help="An instant, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(help="An instant, ISO 8601.")] = None,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show usage of the running month, or of a window, by space, address and meter."""
    api, tenant = login_store.connect(tenant)
    asked = {"starts_at": from_, "ends_at": until}
    window = {name: value for name, value in asked.items() if value}
    usage = api.get(f"/tenants/{tenant}/usage", **window)
    if form is Format.JSON:
        output.show_json(usage)
        return
    output.show_rows(usage["items"], ["space", "address", "meter", "quantity"], form)
    output.show_text(f"as of {usage['as_of'] or 'never: nothing was collected yet'}")


@invoices_app.command("list")
def list_invoices(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the tenant's invoices, newest period first."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/invoices"))
    columns = ["number", "id", "state", "starts_at", "ends_at", "currency", "total_minor"]
    output.show_rows(rows, columns, form)


@invoices_app.command()
def preview(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show what the running period costs so far."""
    api, tenant = login_store.connect(tenant)
    made = api.get(f"/tenants/{tenant}/invoices/preview")
    if form is Format.TABLE:
        made.pop("document")
    output.show_one(made, form)


@invoices_app.command()
def show(invoice: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show an invoice, by number or id, with its lines."""
    api, tenant = login_store.connect(tenant)
    row = api.get(f"/tenants/{tenant}/invoices/{segment(invoice)}")
    if form is Format.JSON:
        output.show_json(row)
        return
    lines = (row.pop("document") or {}).get("lines", [])
    output.show_one(row, form)
    output.show_rows(lines, ["description", "quantity", "unit", "amount_minor"], form)


@invoices_app.command()
def download(
    invoice: str,
    file: Annotated[Path, typer.Option("--to", help="Where to write it: .pdf or .csv.")],
    tenant: Tenant = None,
) -> None:
    """Write an invoice's PDF, or its lines as CSV."""
    api, tenant = login_store.connect(tenant)
    kind = "csv" if file.suffix == ".csv" else "pdf"
    file.write_bytes(api.get_bytes(f"/tenants/{tenant}/invoices/{segment(invoice)}.{kind}"))
    output.say(f"wrote {file}")


@invoices_app.command()
@slow.change
def verify(invoice: str, *, how: slow.How) -> None:
    """Recompute an invoice from its pinned samples; ends with 1 unless every byte is the same."""
    slow.follow(
        f"recomputing {invoice}",
        how,
        lambda api, tenant: api.post(f"{tenant}/invoices/{segment(invoice)}/verify"),
    )
