"""`waypost usage` and `waypost invoices`: metered usage, invoices and their verification."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import cells, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import segment
from plans.invoice_formats import InvoiceFormat
from plans.usage import meters

usage_app = typer.Typer(no_args_is_help=True, help="Metered usage.")
invoices_app = typer.Typer(
    no_args_is_help=True, help="Invoices: list, show, preview, download, verify."
)
_LEAST = Decimal("0.000001")  # the finest quantity that is shown
# Meters that are shown in a larger unit than their base unit: meter -> (base units in one, unit).
_UNITS = {
    meter.slug: (meter.base_per_unit, meter.unit)
    for meter in meters.REGISTRY
    if meter.base_per_unit > 1
}


_SUFFIXES = ", ".join(f".{kind}" for kind in InvoiceFormat)


def _instant(text: str) -> str:
    """Return an option's text as an ISO 8601 instant with an offset.

    A date means its midnight. A time without an offset is in UTC.

    Raises:
        typer.BadParameter: the text is neither a date nor a time.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a date nor a time: write 2026-11-01 or 2026-11-01T08:00:00Z."
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


_WHEN = "A date or a time, ISO 8601; UTC unless it has an offset."
_UNTIL = f"The end, not included. {_WHEN}"


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
    """Show usage of the current month, or of a window, by space, address and meter."""
    api, tenant = login_store.connect(tenant)
    requested = {"starts_at": from_, "ends_at": until}
    window = {name: value for name, value in requested.items() if value}
    usage = api.get(f"/tenants/{tenant}/usage", **window)
    if form is Format.JSON:  # in base units, as the API returns it
        output.show_json(usage)
        return
    rows = [_readable(item) for item in usage["items"]]
    output.show_rows(rows, ["space", "address", "meter", "quantity", "unit"], form)
    as_of = usage["as_of"]
    watermark = cells.instant(as_of) if as_of else "never: no usage has been collected yet"
    output.show_text(f"as of {watermark}")


@invoices_app.command("list")
def list_invoices(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the tenant's invoices, newest period first."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/invoices"))
    columns = ["number", "id", "state", "starts_at", "ends_at", "total_minor"]
    output.show_rows(rows, columns, form)


@invoices_app.command()
def preview(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show what the current period costs so far, line by line."""
    api, tenant = login_store.connect(tenant)
    priced = api.get(f"/tenants/{tenant}/invoices/preview")
    if form is Format.JSON:
        output.show_json(priced)
        return
    document = priced["document"]
    totals = {name: value for name, value in priced.items() if name != "document"}
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
    # An invoice that is still closing has no document.
    lines = (row.pop("document") or {}).get("lines", [])
    output.show_one(row, form)
    _show_lines(lines, row["currency"])


@invoices_app.command()
def download(
    invoice: str,
    file: Annotated[
        Path, typer.Option("--to", help=f"Where to write it; its suffix is one of {_SUFFIXES}.")
    ],
    kind: Annotated[
        InvoiceFormat | None, typer.Option("--format", help="Only for a file without a suffix.")
    ] = None,
    tenant: Tenant = None,
) -> None:
    """Write an invoice to a file: as PDF, its lines as CSV, or its whole document as JSON."""
    kind = _kind(file, kind)  # refuses a wrong name before anything is requested
    api, tenant = login_store.connect(tenant)
    file.write_bytes(api.get_bytes(f"/tenants/{tenant}/invoices/{segment(invoice)}.{kind}"))
    output.say(f"wrote {file}")


@invoices_app.command()
@slow.change
def verify(invoice: str, *, how: slow.How) -> None:
    """Recompute an invoice from the samples behind it; the exit code is 1 if any byte differs."""
    slow.follow(
        f"invoice {invoice}",
        how,
        lambda api, tenant: api.post(f"{tenant}/invoices/{segment(invoice)}/verify"),
        done="verified, all bytes are identical",
    )


def _kind(file: Path, requested: InvoiceFormat | None) -> InvoiceFormat:
    """Return the format that the file's suffix names, or ``requested`` if there is no suffix.

    Raises:
        Invalid: ``invoice.format``: the suffix is not a format, or not the requested one; or there
            is neither a suffix nor a requested format.
    """
    suffix = file.suffix.lower().removeprefix(".")
    if not suffix and requested:
        return requested
    if suffix not in list(InvoiceFormat):
        raise Invalid(
            f"The name {file} does not end with a format of invoices: end it with one of "
            f"{_SUFFIXES}, or give a name without a suffix and --format.",
            code="invoice.format",
        )
    if requested not in (None, suffix):
        raise Invalid(
            f"The suffix of {file} is not the format {requested}: name it .{requested}, or omit "
            "--format.",
            code="invoice.format",
        )
    return InvoiceFormat(suffix)


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
    """Return a quantity as text with thousands separators and at most six decimal places.

    A quantity between 0 and 0.000001 becomes ``<0.000001``, a negative one ``>-0.000001``.
    """
    exact = Decimal(str(value))
    if 0 < exact < _LEAST:
        return f"<{_LEAST:f}"
    if -_LEAST < exact < 0:
        return f">-{_LEAST:f}"
    return f"{exact:,.6f}".rstrip("0").rstrip(".")
