"""`waypost usage` and `waypost invoices`: metered usage, invoices and their verification."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import calls, cells, listing, login_store, output, slow
from controlplane.cli.instants import UNTIL, WHEN, instant
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client.api import invoices, usage
from controlplane.client.types import UNSET
from controlplane.core.errors import Invalid, Missing
from controlplane.rest_client import Api, Json
from plans.invoice_formats import INFO, InvoiceFormat, format_of
from plans.rating import money
from plans.usage import meters

usage_app = typer.Typer(no_args_is_help=True, help="Metered usage.")
invoices_app = typer.Typer(
    no_args_is_help=True,
    help="Invoices: list, show, preview, download, verify, line, samples, explain.",
)
Files = Annotated[
    bool, typer.Option("--files", help="Compare whole files with the hashes recorded at landing.")
]
_LEAST = Decimal("0.000001")  # the finest quantity that is shown
# Meter -> (base units in one unit, unit).
UNITS = {meter.slug: (meter.base_per_unit, meter.unit) for meter in meters.REGISTRY}


# What the command calls a meter; its slug is only for programs.
_TITLES = {meter.slug: meter.title for meter in meters.REGISTRY}
_SUFFIXES = ", ".join(f".{kind}" for kind in InvoiceFormat)
File = Annotated[
    Path, typer.Option("--to", help=f"Where to write it; its suffix is one of {_SUFFIXES}.")
]
Kind = Annotated[
    InvoiceFormat | None, typer.Option("--format", help="Only for a file without a suffix.")
]
UNUSED_CREDIT = (
    "Not issued: credit of the tenant is used when the invoice is issued, and makes payable_minor "
    "smaller then. `waypost credit show` and `waypost staff credit show SLUG` have the credit."
)
VERIFIED = "verified, all bytes are identical"


@usage_app.command("show")
def show_usage(
    from_: Annotated[
        datetime | None, typer.Option("--from", help=WHEN, parser=instant, metavar="<instant>")
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(help=UNTIL, parser=instant, metavar="<instant>"),
    ] = None,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show usage of the current month, or of a window, by space, address and meter."""
    api, tenant = login_store.connect(tenant)
    answer = usage.get_usage.sync_detailed(
        tenant, client=api.client, starts_at=from_ or UNSET, ends_at=until or UNSET
    )
    used = calls.body(api, answer)
    if form.is_document:  # in base units, as the API returns it
        output.show_document(used, form)
        return
    rows = []
    for item in used["items"]:
        # A newer server may have a meter that this version does not know.
        per, unit = UNITS.get(item["meter"], (1, ""))
        title = _TITLES.get(item["meter"], item["meter"])
        quantity = quantity_words(Decimal(item["quantity"]) / per)
        rows.append({**item, "meter": title, "quantity": quantity, "unit": unit})
    output.show_rows(rows, ["space", "address", "meter", "quantity", "unit"], form)
    as_of = used["as_of"]
    watermark = cells.instant(as_of) if as_of else "never: no usage has been collected yet"
    if form.is_table:
        output.show_text(f"as of {watermark}")


@usage_app.command("costs")
def show_costs(
    by: Annotated[
        str,
        typer.Option("--by", help="The key of a label of spaces, such as team; default: by space."),
    ] = "",
    month: Annotated[str, typer.Option(help="Such as 2026-11; default: the running month.")] = "",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show what a month costs before tax, by space or by a label."""
    api, tenant = login_store.connect(tenant)
    answer = usage.get_costs.sync_detailed(
        tenant, client=api.client, label=calls.given(by), month=calls.given(month)
    )
    costs = calls.body(api, answer)
    # The API divides by space if no space has the label. Here it may be a misspelled key.
    if by and by != costs["divided_by"]:
        known = ", ".join(costs["labels"]) or "none"
        raise Missing(
            f"No space has the label {by}. Labels of spaces: {known}. Labels of addresses do not "
            "divide the cost.",
            code="labels.missing",
        )
    if form.is_document:
        output.show_document(costs, form)
        return
    currency = costs["currency"]
    total = {"name": "total before tax", "amount_minor": costs["net_minor"]}
    rows = [{**row, "currency": currency} for row in [*costs["items"], total]]
    output.show_rows(rows, ["name", "amount_minor"], form)


@invoices_app.command("list")
@slow.change
def list_invoices(*, how: listing.TenantRows) -> None:
    """List the tenant's invoices, newest period first."""
    columns = [
        "number", "id", "state", "starts_at", "ends_at", "total_minor", "outstanding_minor",
    ]  # fmt: skip
    listing.show(how, calls.tenant_list(invoices.list_invoices.sync_detailed), columns)


@invoices_app.command()
def preview(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show what the current period costs so far, line by line."""
    api, tenant = login_store.connect(tenant)
    answer = invoices.preview_running_period.sync_detailed(tenant, client=api.client)
    priced = calls.body(api, answer)
    if form.is_document:
        output.show_document(priced, form)
        return
    document = priced["document"]
    # The document has a table of its own below.
    totals = {name: value for name, value in priced.items() if name != "document"}
    output.show_one({**totals, "currency": document["currency"]}, form)
    if form.is_table:
        _show_lines(document, document["currency"])


@invoices_app.command()
def show(invoice: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show an invoice, by number or id, with its lines."""
    api, tenant = login_store.connect(tenant)
    answer = invoices.get_invoice.sync_detailed(tenant, calls.named(invoice), client=api.client)
    show_invoice(calls.body(api, answer), form)


@invoices_app.command()
def download(invoice: str, file: File, kind: Kind = None, tenant: Tenant = None) -> None:
    """Write an invoice to a file: as PDF, Factur-X, UBL, CII or JSON, or its lines as CSV."""
    kind = kind_of(file, kind)  # refuses a wrong name before anything is requested
    api, tenant = login_store.connect(tenant)
    # The registry of formats names the function of the generated client.
    operation: Any = getattr(invoices, INFO[kind].operation)
    answer = operation.sync_detailed(tenant, calls.named(invoice), client=api.client)
    file.write_bytes(answer.content)
    output.say(f"wrote {file}")


@invoices_app.command()
@slow.change
def verify(invoice: str, *, files: Files = False, how: slow.How) -> None:
    """Recompute an invoice from the samples behind it; the exit code is 1 if anything differs."""

    def post(api: Api, tenant: str) -> Json:
        answer = invoices.verify_invoice.sync_detailed(
            tenant,
            calls.named(invoice),
            client=api.client,
            idempotency_key=calls.new_key(),
            # Sent only if wanted: servers refuse a parameter that they do not know.
            files="true" if files else UNSET,
        )
        return calls.body(api, answer)

    slow.follow(
        f"invoice {invoice}",
        how,
        post,
        done=VERIFIED,
    )


def show_invoice(row: Json, form: Format) -> None:
    """Print the detail of an invoice, as the API returns it, and its lines in a table."""
    if form.is_document:
        output.show_document(row, form)
        return
    # An invoice that is still closing has no document.
    document = row.pop("document") or {}
    output.show_one(row, form)
    if form.is_table:
        _show_lines(document, row["currency"])
        if document and row["number"] is None:
            output.show_text(UNUSED_CREDIT)


def kind_of(file: Path, requested: InvoiceFormat | None) -> InvoiceFormat:
    """Return the format that the file's suffix names, or ``requested`` if there is no suffix.

    Raises:
        Invalid: ``invoice.format``: the suffix is not a format, or not the requested one; or there
            is neither a suffix nor a requested format.
    """
    if not file.suffix and requested:
        return requested
    named = format_of(file.name)
    if named is None:
        raise Invalid(
            f"The name {file} does not end with a format of invoices: end it with one of "
            f"{_SUFFIXES}, or give a name without a suffix and --format.",
            code="invoice.format",
        )
    if requested not in (None, named):
        raise Invalid(
            f"The suffix of {file} is not the format {requested}: name it .{requested}, or omit "
            "--format.",
            code="invoice.format",
        )
    return named


def _show_lines(document: Mapping[str, Any], currency: str) -> None:
    """Print the lines of a document, and below them its tax at each rate."""
    taxes = document.get("taxes", [])
    rows = [
        {
            **line,
            "quantity": quantity_words(line["quantity"]),
            "currency": currency,
            # Lines name their tax only if the document has several.
            "tax": f"{taxes[line['tax'] - 1]['percent']} %" if "tax" in line else "",
        }
        for line in document.get("lines", [])
    ]
    for tax in taxes:
        taxable = money.display(tax["taxable_minor"], currency)
        rows.append(
            {
                "position": "",
                "description": f"Tax: {tax['percent']} % of {taxable}",
                "quantity": "",
                "unit": "",
                "amount_minor": tax["tax_minor"],
                "currency": currency,
                "tax": "",
            }
        )
    # Commands name a line by its position: ``invoices line``, ``staff invoices credit-note``.
    columns = ["position", "description", "quantity", "unit", "amount_minor"]
    if len(taxes) > 1:
        columns.insert(-1, "tax")
    output.show_rows(rows, columns, Format.TABLE)


def quantity_words(value: Decimal | str | float) -> str:
    """Return a quantity as text with thousands separators and at most six decimal places.

    A quantity between 0 and 0.000001 becomes ``<0.000001``, a negative one ``>-0.000001``.
    """
    # Through a text: the decimal of a float would have all digits of its binary value.
    exact = Decimal(str(value))
    if 0 < exact < _LEAST:
        return f"<{_LEAST:f}"
    if -_LEAST < exact < 0:
        return f">-{_LEAST:f}"
    return f"{exact:,.6f}".rstrip("0").rstrip(".")
