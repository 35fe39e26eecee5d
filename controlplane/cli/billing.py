"""`waypost usage` and `waypost invoices`: what was used, what it costs, and the proof."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import cells, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import segment

usage_app = typer.Typer(no_args_is_help=True, help="Metered usage.")
invoices_app = typer.Typer(
    no_args_is_help=True, help="Invoices: list, show, preview, download, verify."
)
_LEAST = Decimal("0.000001")  # as finely as quantities are told
_HOUR_MS = 3_600_000
# What nobody reads in base units: meter -> base units in one unit, and the unit.
_UNITS = {
    "connection_ms": (_HOUR_MS, "connection-hours"),
    "stored_byte_ms": (_HOUR_MS * 2**30, "GiB-hours"),
}


class Kind(StrEnum):
    """The forms of an invoice; each is the suffix of a file too."""

    PDF = "pdf"
    CSV = "csv"
    JSON = "json"


def _instant(text: str) -> str:
    """Return a date's first moment, or an instant, in UTC where no zone is given."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no date and no instant: write 2026-11-01, or 2026-11-01T08:00:00Z."
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


_WHEN = "A date or an instant, ISO 8601; UTC unless it says otherwise."
_UNTIL = f"Not included. {_WHEN}"


@usage_app.command("show")
def show_usage(
    from_: Annotated[
        str | None, typer.Option("--from", help=_WHEN, parser=_instant, metavar="<instant>")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(help=_UNTIL, parser=_instant, metavar="<instant>"),
    ] = None,
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
    rows = [_readable(item) for item in usage["items"]]
    output.show_rows(rows, ["space", "address", "meter", "quantity", "unit"], form)
    as_of = usage["as_of"]
    told = cells.instant(as_of) if as_of else "never: nothing was collected yet"
    output.show_text(f"as of {told}")


@invoices_app.command("list")
def list_invoices(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the tenant's invoices, newest period first."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/invoices"))
    columns = ["number", "id", "state", "starts_at", "ends_at", "total_minor"]
    output.show_rows(rows, columns, form)


@invoices_app.command()
def preview(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show what the running period costs so far, line by line."""
    api, tenant = login_store.connect(tenant)
    made = api.get(f"/tenants/{tenant}/invoices/preview")
    if form is Format.JSON:
        output.show_json(made)
        return
    document = made["document"]
    totals = {name: value for name, value in made.items() if name != "document"}
    output.show_one({**totals, "currency": document["currency"]}, form)
    _show_lines(document["lines"], document["currency"])


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
    _show_lines(lines, row["currency"])


@invoices_app.command()
def download(
    invoice: str,
    file: Annotated[Path, typer.Option("--to", help="Where to write it: .pdf, .csv or .json.")],
    kind: Annotated[
        Kind | None, typer.Option("--format", help="Only for a file without a suffix.")
    ] = None,
    tenant: Tenant = None,
) -> None:
    """Write an invoice as PDF, its lines as CSV, or the whole document as JSON."""
    kind = _kind(file, kind)
    api, tenant = login_store.connect(tenant)
    file.write_bytes(api.get_bytes(f"/tenants/{tenant}/invoices/{segment(invoice)}.{kind}"))
    output.say(f"wrote {file}")


@invoices_app.command()
@slow.change
def verify(invoice: str, *, how: slow.How) -> None:
    """Recompute an invoice from its pinned samples; ends with 1 unless every byte is the same."""
    slow.follow(
        f"invoice {invoice}",
        how,
        lambda api, tenant: api.post(f"{tenant}/invoices/{segment(invoice)}/verify"),
        done="verified, every byte is the same",
    )


def _kind(file: Path, asked: Kind | None) -> Kind:
    """Return the form that the file's suffix names, or the asked one where there is no suffix.

    Raises:
        Invalid: ``invoice.format``: the suffix names none, or another than was asked.
    """
    suffix = file.suffix.lower().removeprefix(".")
    if not suffix and asked:
        return asked
    if suffix not in list(Kind):
        raise Invalid(
            f"{file} names no form of an invoice: end it with .pdf, .csv or .json, or give a "
            "name without a suffix and --format.",
            code="invoice.format",
        )
    if asked not in (None, suffix):
        raise Invalid(
            f"{file} would hold {asked}: name it .{asked}, or leave --format away.",
            code="invoice.format",
        )
    return Kind(suffix)


def _show_lines(lines: Sequence[Mapping[str, Any]], currency: str) -> None:
    rows = [
        {**line, "quantity": _quantity(line["quantity"]), "currency": currency} for line in lines
    ]
    columns = ["description", "quantity", "unit", "amount_minor"]
    output.show_rows(rows, columns, Format.TABLE)


def _readable(item: Mapping[str, Any]) -> Mapping[str, Any]:
    per, unit = _UNITS.get(item["meter"], (1, ""))
    return {**item, "quantity": _quantity(Decimal(item["quantity"]) / per), "unit": unit}


def _quantity(value: Decimal | str | float) -> str:
    """Return a quantity with thousands separated and at most six places; little is not nothing."""
    exact = Decimal(str(value))
    if 0 < exact < _LEAST:
        return f"<{_LEAST:f}"
    if -_LEAST < exact < 0:
        return f">-{_LEAST:f}"
    return f"{exact:,.6f}".rstrip("0").rstrip(".")
