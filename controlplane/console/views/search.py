"""The page of results of a search over everything of a tenant."""

from django.http import HttpResponseBase

from controlplane.console import search_reads
from controlplane.console.access import tenant_page
from controlplane.console.scope import TenantScope
from tenants.permissions import Permission


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """List what the member may see and whose name contains ``?q=``."""
    text = search_reads.text_of(scope)
    return search_reads.render(scope, text, search_reads.search(scope, text))
