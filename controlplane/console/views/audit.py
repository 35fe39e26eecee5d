"""Views of a tenant's audit log: the page in plain words with a filter, and the export."""

from django.http import HttpResponseBase

from controlplane.console import audit_files, audit_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.audit import AuditFilterForm
from controlplane.console.forms.base import form_status
from controlplane.console.scope import TenantScope
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
    return audit_files.of_tenant(scope.tenant, AuditFilterForm(scope.request.GET), kind)
