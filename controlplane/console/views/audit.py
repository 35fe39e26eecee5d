"""Views of a tenant's audit log: the page in plain words with a filter, and the export."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

from controlplane.console import audit_reads
from controlplane.console.access import tenant_page
from controlplane.console.audit_reads import ShownEvent
from controlplane.console.forms.audit import AuditFilterForm
from controlplane.console.forms.base import form_status
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Invalid, Missing
from controlplane.core.spreadsheets import harmless
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_AUDIT)
def page(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's audit events that the filter selects, newest first, in pages."""
    form = AuditFilterForm(scope.request.GET)
    rows = scope.page_of(audit_reads.find(scope.tenant, form.wanted(), audit_reads.SEARCHED))
    query = scope.request.GET.copy()
    # The links to other pages add a number of their own.
    query.pop("page", None)
    context = {
        "form": form,
        "page": rows,
        "newest": audit_reads.SEARCHED,
        "events": audit_reads.shown(scope.tenant, rows),
        "query": query.urlencode(),
        "is_filtered": any(form.data.values()),
    }
    return scope.render("team/audit.html", context, form_status(form))


@tenant_page(Permission.VIEW_AUDIT)
def export(scope: TenantScope, kind: str) -> HttpResponseBase:
    """Download the events that the filter selects, as ``csv`` or as JSON lines (``jsonl``).

    Raises:
        Missing: there is no such format.
        Invalid: a value of the filter is not valid, so the file would hold other events.
    """
    formats = {"csv": (_csv, "text/csv"), "jsonl": (_json_lines, "application/x-ndjson")}
    if kind not in formats:
        raise Missing("There is no such file: the audit log is exported as csv or jsonl.")
    write, media_type = formats[kind]
    form = AuditFilterForm(scope.request.GET)
    events = audit_reads.stream(scope.tenant, form.wanted())
    if form.errors:
        raise Invalid(" ".join(form.problems), code="audit.filter")
    name = f"waypost-audit-{scope.tenant.slug}-{timezone.now():%Y-%m-%d}.{kind}"
    return StreamingHttpResponse(
        write(events),
        content_type=f"{media_type}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


def _csv(events: Iterable[ShownEvent]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(["at", "who", "what", "changes", "reason", "source_ip"])
    for event in events:
        # Text that a spreadsheet would run as a formula gets an apostrophe.
        texts = (event.who, event.what, "; ".join(event.changes), event.reason, event.source_ip)
        yield writer.writerow([event.at.isoformat(), *map(harmless, texts)])


def _json_lines(events: Iterable[ShownEvent]) -> Iterator[str]:
    for event in events:
        values = {**asdict(event), "at": event.at.isoformat()}
        yield json.dumps(values, ensure_ascii=False) + "\n"


class _Echo:
    """A file-like object for ``csv.writer`` that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line
