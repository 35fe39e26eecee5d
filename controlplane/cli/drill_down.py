"""`waypost invoices line|samples|explain`: what is behind an invoice, and why it differs."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import calls, cells, login_store, output
from controlplane.cli.billing import UNITS, quantity_words
from controlplane.cli.instants import WHEN, instant
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client.api import invoices
from controlplane.client.models.reading_create_request import ReadingCreateRequest
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Json

_PAGE = 1000  # samples in one request
_Instant = Annotated[datetime | None, typer.Option(help=WHEN, parser=instant, metavar="<instant>")]
_From = Annotated[
    datetime | None, typer.Option("--from", help=WHEN, parser=instant, metavar="<instant>")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module to ``waypost invoices``."""
    for command in (line, samples, explain):
        app.command()(command)


def line(
    invoice: str,
    position: Annotated[int, typer.Argument(help="The line's number, from 1.")],
    day: Annotated[str, typer.Option(help="Such as 2026-10-31: the hours of this day.")] = "",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show the days of an invoice line, or the hours of one day; they add up to the line."""
    api, tenant = login_store.connect(tenant)
    answer = invoices.drill_down_invoice_line.sync_detailed(
        tenant,
        calls.named(invoice),
        position,
        client=api.client,
        day=day_of(day) if day else UNSET,
    )
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    # A newer server may know a meter that this command does not: then in base units.
    per, unit = UNITS.get(found["meter"], (1, ""))
    rows = [
        {
            "starts_at": step["starts_at"],
            **{
                name: quantity_words(Decimal(step[f"{name}_base"]) / per)
                for name in ("used", "included")
            },
            "billed_base": step["billed_base"],
            "unit": unit,
        }
        for step in found["steps"]
    ]
    output.show_rows(rows, ["starts_at", "used", "included", "billed_base", "unit"], form)
    if form.is_table:
        exact = "they add up to the line" if found["is_exact"] else (
            "usage has changed since the invoice was made: run `waypost invoices samples` for the "
            "whole period, then this command again")  # fmt: skip
        output.show_text(f"{found['description']}, {found['time_zone']}: {exact}")


def day_of(text: str) -> Any:
    """Return an option's text as a date.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a day has no zone
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a day: write 2026-10-31.") from None


def samples(
    invoice: str,
    file: Annotated[Path, typer.Option("--to", help="Where to write them, as JSON lines.")],
    from_: _From = None,
    until: _Instant = None,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Write the samples behind an invoice, or behind a part of its period, to a file.

    Each line is a sample with the hash of its values. The command prints the hash of all, which the
    program docs/examples/python/check_evidence.py computes from the file.
    """
    api, tenant = login_store.connect(tenant)
    export = _Export(api, tenant, calls.named(invoice), from_, until)
    # Line by line: an invoice may have more samples than fit into memory.
    with file.open("w", encoding="utf-8") as opened:
        for sample in export.rows():
            opened.write(json.dumps(sample, ensure_ascii=False) + "\n")
    found = {
        "file": str(file),
        **{name: export.reading[name] for name in ("n_samples", "sample_hash", "from_samples")},
    }
    if form.is_document:
        output.show_document({**found, "hours": export.reading["hours"]}, form)
        return
    output.show_text(f"wrote {file}: {found['n_samples']} samples {found['sample_hash']}")


class _Export:
    """Reads all samples of a part of an invoice's period, one sample reading after the other.

    ``reading`` is the newest sample reading.
    """

    def __init__(
        self,
        api: Api,
        tenant: str,
        invoice: str,
        starts_at: datetime | None,
        ends_at: datetime | None,
    ) -> None:
        self.api, self.tenant, self.invoice = api, tenant, invoice
        self.starts_at, self.ends_at = starts_at, ends_at
        self.reading: Json = {}

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each sample of the part once, in the order of their numbers."""
        n_read = 0
        while not self.reading or n_read < self.reading["n_samples"]:
            # A reading keeps some of the samples, so each begins where the last one ended.
            self._read(n_read)
            before = n_read
            for row in self._page_rows():
                yield row["values"]
                n_read += 1
            if n_read == before:  # nothing left, whatever the count says
                return

    def _read(self, first: int) -> None:
        body = ReadingCreateRequest(starts_at=self.starts_at, ends_at=self.ends_at, first=first)
        answer = invoices.read_samples_invoice.sync_detailed(
            self.tenant,
            self.invoice,
            client=self.api.client,
            body=body,
            idempotency_key=calls.new_key(),
        )
        operation = calls.body(self.api, answer)
        with output.progress(f"samples of {self.invoice} from number {first}") as progress:
            self.api.wait(self.tenant, operation, progress=progress)
        self.reading = calls.body(
            self.api,
            invoices.get_reading_samples.sync_detailed(
                self.tenant, self.invoice, operation["subject_id"], client=self.api.client
            ),
        )

    def _page_rows(self) -> Iterator[Json]:
        page = partial(
            invoices.list_read_samples.sync_detailed,
            self.tenant,
            self.invoice,
            self.reading["id"],
            client=self.api.client,
            limit=_PAGE,
        )
        return calls.rows(self.api, page)


def explain(
    older: Annotated[str, typer.Argument(help="Number, id, month such as 2026-10, or preview.")],
    newer: Annotated[str, typer.Argument(help="The later one, named in the same way.")],
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Say why one invoice differs from an earlier one: price, quantity, plan, correction, tax."""
    api, tenant = login_store.connect(tenant)
    answer = invoices.explain_invoice_change.sync_detailed(
        tenant, calls.named(newer), client=api.client, from_=older
    )
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    currency = found["currency"]
    rows = [{**part, "currency": currency} for part in found["parts"]]
    # The last row of the table. The parts add up to it exactly.
    total = {
        "caused_by": "sum",
        "title": "",
        "words": "what is to be paid changes by this",
        "amount_minor": found["difference_minor"],
        "currency": currency,
    }
    output.show_rows([*rows, total], ["caused_by", "title", "words", "amount_minor"], form)
    sides = [
        {**side, "amount_minor": side["payable_minor"], "currency": currency}
        for side in (found["older"], found["newer"])
    ]
    if form.is_table:
        before, after = (cells.text("amount_minor", s["amount_minor"], s) for s in sides)
        output.show_text(f"{older}: {before}, {newer}: {after}")
