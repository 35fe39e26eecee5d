"""`waypost exports` and `waypost staff finance`: files for spreadsheets and accounting systems."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import calls, cells, login_store, output
from controlplane.cli.instants import UNTIL, WHEN, instant
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import exports, staff
from controlplane.client.types import UNSET
from controlplane.core.errors import Invalid
from plans.export_kinds import INFO, ExportKind, FileFormat

app = typer.Typer(no_args_is_help=True, help="Files of charges and usage, for other programs.")
staff_app = typer.Typer(no_args_is_help=True, help="Files and reports for accounting.")
_SUFFIXES = ", ".join(f".{format}" for format in FileFormat)
_To = Annotated[Path, typer.Option("--to", help=f"Where to write it: {_SUFFIXES}.")]
_From = Annotated[
    datetime | None, typer.Option("--from", help=WHEN, parser=instant, metavar="<instant>")
]
_Until = Annotated[datetime | None, typer.Option(help=UNTIL, parser=instant, metavar="<instant>")]
_CsvTo = Annotated[Path, typer.Option("--to", help="Where to write it, as CSV.")]
_MaybeCsvTo = Annotated[
    Path | None, typer.Option("--to", help="Where to write it, as CSV; default: print it.")
]
_First = Annotated[str, typer.Option(help="Such as 2026-01; default: 12 months in all.")]
_Last = Annotated[str, typer.Option(help="Such as 2026-12; default: the running month.")]


@app.command("list")
def list_exports(form: Output = Format.TABLE) -> None:
    """List the tables that `exports get` writes."""
    rows = [{"kind": str(kind), "title": info.title} for kind, info in INFO.items()]
    output.show_rows(rows, ["kind", "title"], form)


@app.command()
def get(
    kind: ExportKind,
    file: _To,
    from_: _From = None,
    until: _Until = None,
    tenant: Tenant = None,
) -> None:
    """Write a table over a window of time to a file; default: the running month."""
    # Before the login is read: a wrong name is refused without a request.
    format = _format(file)
    api, tenant = login_store.connect(tenant)
    # The generated client has one function for each kind and format.
    operation: Any = getattr(exports, f"export_{kind}_{format}")
    answer = operation.sync_detailed(
        tenant, client=api.client, starts_at=from_ or UNSET, ends_at=until or UNSET
    )
    _write(file, answer)


@staff_app.command()
def focus(file: _To, from_: _From = None, until: _Until = None) -> None:
    """Write the charges of all tenants by FOCUS 1.0; default: the running month."""
    operation: Any = getattr(staff, f"export_all_focus_{_format(file)}")
    answer = operation.sync_detailed(
        client=login_store.connect_staff().client,
        starts_at=from_ or UNSET,
        ends_at=until or UNSET,
    )
    _write(file, answer)


@staff_app.command()
def journal(
    file: _CsvTo,
    after: Annotated[int, typer.Option(min=0, help="The largest posting_id imported.")] = 0,
) -> None:
    """Write the ledger's postings after one as journal lines."""
    api = login_store.connect_staff()
    _write(file, staff.get_journal_csv.sync_detailed(client=api.client, after=after))


@staff_app.command("deferred-revenue")
def deferred_revenue(first: _First = "", last: _Last = "", form: Output = Format.TABLE) -> None:
    """Show what was billed, earned, deferred and paid ahead, by month."""
    api = login_store.connect_staff()
    answer = staff.get_deferred_revenue.sync_detailed(
        client=api.client, first=calls.given(first), last=calls.given(last)
    )
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    amounts = ("billed", "earned", "deferred", "accrued", "prepaid_owed")
    # Columns whose names end so are shown as amounts of the row's currency.
    rows = [{**row, **{f"{name}_minor": row[name] for name in amounts}} for row in found["items"]]
    columns = ["month", "legal_entity", *(f"{name}_minor" for name in amounts)]
    output.show_rows(rows, columns, form)
    if form.is_table:
        for words in found["disagreements"]:
            output.show_text(f"differs: {words}")


@staff_app.command("aged-receivables")
def aged_receivables(
    as_of: Annotated[
        str, typer.Option(help="The day (UTC), such as 2026-11-30; default: now.")
    ] = "",
    tenant: Annotated[str, typer.Option(help="The unpaid invoices of this tenant alone.")] = "",
    file: _MaybeCsvTo = None,
    form: Output = Format.TABLE,
) -> None:
    """Show what tenants owe, by legal entity, currency and days since the day by which to pay."""
    api, day = login_store.connect_staff(), calls.given(as_of)
    if tenant and file:
        raise output.WrongUse("The file has all tenants: leave --tenant or --to out.")
    if file:
        _write(file, staff.get_aged_receivables_csv.sync_detailed(client=api.client, as_of=day))
        return
    if tenant:
        items = staff.list_open_items_tenant.sync_detailed(
            calls.named(tenant), client=api.client, as_of=day
        )
        columns = ["number", "legal_entity", "due_on", "days_overdue", "due_minor"]
        output.show_rows(calls.body(api, items)["items"], columns, form)
        return
    answer = staff.get_aged_receivables.sync_detailed(client=api.client, as_of=day)
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    sums = [{**row, "tenant": "(all)"} for row in found["sums"]] if form.is_table else []
    rows = [*found["items"], *sums]
    # The API returns the ages in their order, then the sums of them.
    amounts = [name for name in (rows or [{}])[0] if name.endswith("_minor")]
    output.show_rows(rows, ["tenant", "legal_entity", *amounts], form)
    if form.is_table and not rows:
        output.show_text("Nothing is due.")


@staff_app.command("periods-without-invoice")
def periods_without_invoice(
    month: Annotated[str, typer.Option(help="Such as 2026-06; default: the last ended one.")] = "",
    file: _MaybeCsvTo = None,
    form: Output = Format.TABLE,
) -> None:
    """Show the periods of a month, in which tenants had a plan, that have no issued invoice."""
    api, wanted = login_store.connect_staff(), calls.given(month)
    if file:
        answer: Any = staff.get_periods_without_invoice_csv
        _write(file, answer.sync_detailed(client=api.client, month=wanted))
        return
    listed = staff.list_periods_without_invoice.sync_detailed(client=api.client, month=wanted)
    found = calls.body(api, listed)
    if form.is_document:
        output.show_document(found, form)
        return
    columns = ["tenant", "starts_at", "ends_at", "state", "invoice", "next_step"]
    output.show_rows(found["items"], columns, form)
    if form.is_table:
        missing = cells.counted(len(found["items"]), "period")
        output.show_text(
            f"{found['month'][:7]}: {cells.counted(found['n_issued'], 'invoice')} issued, "
            + ("complete" if found["is_complete"] else f"{missing} without an issued invoice")
        )


@staff_app.command()
def tax(
    first: _First = "",
    last: _Last = "",
    reverse_charge: Annotated[
        bool, typer.Option("--reverse-charge", help="The sums of each VAT id instead.")
    ] = False,
    file: _MaybeCsvTo = None,
    form: Output = Format.TABLE,
) -> None:
    """Show VAT by month, country and rate, or what was charged under reverse charge by VAT id."""
    api, months = login_store.connect_staff(), {"first": first, "last": last}
    wanted = {name: calls.given(month) for name, month in months.items()}
    if file:
        written: Any = staff.get_reverse_charge_csv if reverse_charge else staff.get_tax_report_csv
        _write(file, written.sync_detailed(client=api.client, **wanted))
        return
    found = calls.body(api, staff.get_tax_report.sync_detailed(client=api.client, **wanted))
    if form.is_document:
        output.show_document(found, form)
        return
    if reverse_charge:
        columns = ["vat_id", "name", "country", "legal_entity", "n_documents", "taxable_minor"]
        output.show_rows(found["reverse_charge"], columns, form)
        if form.is_table and not found["reverse_charge"]:
            output.show_text("No document of these months has reverse charge.")
        return
    rows = [{**row, "month": row["month"][:7]} for row in found["items"]]
    columns = ["month", "legal_entity", "country", "category", "percent", "oss"]
    output.show_rows(rows, [*columns, "n_documents", "taxable_minor", "tax_minor"], form)
    if form.is_table:
        for words in found["disagreements"]:
            output.show_text(f"differs: {words}")
        if not rows:
            output.show_text("No invoice or credit note was issued in these months.")


@staff_app.command()
def codes(
    legal_entity: Annotated[str, typer.Argument(help="The key of the seller in the catalog.")],
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="Such as revenue=4400; an empty code removes it. Repeat it."),
    ] = None,
    form: Output = Format.TABLE,
) -> None:
    """Show or change what an accounting system calls the accounts of a legal entity."""
    api, entity = login_store.connect_staff(), calls.named(legal_entity)
    if change:
        wanted = {}
        for text in change:
            account, equals, code = text.partition("=")
            if not equals:
                raise typer.BadParameter(f"{text!r} sets nothing: write ACCOUNT=CODE.")
            wanted[account] = code
        answer: Any = staff.change_account_codes.sync_detailed(
            entity,
            client=api.client,
            body=models.AccountCodesRequest.from_dict({"codes": wanted}),
            idempotency_key=calls.new_key(),
        )
    else:
        answer = staff.get_account_codes.sync_detailed(entity, client=api.client)
    found = calls.body(api, answer)["codes"]
    rows = [{"account": account, "code": code} for account, code in found.items()]
    output.show_rows(rows, ["account", "code"], form)


def _format(file: Path) -> FileFormat:
    suffix = file.suffix.lower().removeprefix(".")
    if suffix not in list(FileFormat):
        raise Invalid(
            f"The name {file} does not end with a format of tables: end it with one of "
            f"{_SUFFIXES}.",
            code="export.format",
        )
    return FileFormat(suffix)


def _write(file: Path, answer: Any) -> None:
    file.write_bytes(answer.content)
    output.say(f"wrote {file}")
