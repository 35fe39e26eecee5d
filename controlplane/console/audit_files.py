"""Writes audit events as files for download: CSV, or JSON lines (``jsonl``).

The events of a tenant and those of all tenants are files of one form. In those for staff, a column
``tenant`` comes after the time.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

from controlplane.console import audit_reads
from controlplane.console.audit_reads import AuditFilter, ShownEvent
from controlplane.console.forms.audit import AuditFilterForm
from controlplane.core.errors import Invalid, Missing
from controlplane.core.spreadsheets import harmless
from tenants.models import Tenant

Row = Mapping[str, Any]
_COLUMNS = ("at", "who", "what", "changes", "reason", "source_ip")
_STAFF_COLUMNS = ("at", "tenant", *_COLUMNS[1:])


def of_tenant(tenant: Tenant, form: AuditFilterForm, kind: str) -> HttpResponseBase:
    """Return the events of ``tenant`` that ``form`` selects, as its members may read them.

    ``kind`` is the format.

    Raises:
        Missing: there is no such format.
        Invalid: a value of the filter is not valid, so the file would hold other events.
    """

    def rows(wanted: AuditFilter) -> Iterator[Row]:
        return (_row(event) for event in audit_reads.stream(tenant, wanted))

    return _answer(kind, tenant.slug, form, (_COLUMNS, rows))


def of_all(form: AuditFilterForm, kind: str) -> HttpResponseBase:
    """Return the events of all tenants that ``form`` selects, with all that staff may read.

    ``tenant`` is the slug; empty for what belongs to no tenant. Raises as ``of_tenant`` does.
    """

    def rows(wanted: AuditFilter) -> Iterator[Row]:
        for event, tenant in audit_reads.stream_to_staff(wanted):
            row = _row(event)
            at = row.pop("at")
            yield {"at": at, "tenant": tenant.slug if tenant else "", **row}

    return _answer(kind, "all", form, (_STAFF_COLUMNS, rows))


def _answer(
    kind: str,
    owner: str,
    form: AuditFilterForm,
    table: tuple[Sequence[str], Callable[[AuditFilter], Iterator[Row]]],
) -> HttpResponseBase:
    formats = {"csv": (_csv, "text/csv"), "jsonl": (_json_lines, "application/x-ndjson")}
    if kind not in formats:
        raise Missing("There is no such file: the audit log is exported as csv or jsonl.")
    write, media_type = formats[kind]
    columns, rows = table
    wanted = form.wanted()
    if form.errors:
        raise Invalid(" ".join(form.problems), code="audit.filter")
    name = f"waypost-audit-{owner}-{timezone.now():%Y-%m-%d}.{kind}"
    return StreamingHttpResponse(
        write(columns, rows(wanted)),
        content_type=f"{media_type}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


def _row(event: ShownEvent) -> dict[str, Any]:
    return {**asdict(event), "at": event.at.isoformat()}


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(columns)
    for row in rows:
        cells = {**row, "changes": "; ".join(row["changes"])}
        # Text that a spreadsheet would run as a formula gets an apostrophe.
        yield writer.writerow([harmless(cells[column]) for column in columns])


def _json_lines(_: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


class _Echo:
    """A file-like object for ``csv.writer`` that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line
