"""/tenants/{tenant}/audit-events: the audit log of a tenant, which says who did what to what."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.views import TenantView
from tenants import queries
from tenants.permissions import Permission


class AuditEventSerializer(serializers.Serializer[Any]):
    """One recorded change: who (`actor`) did what (`action`) to what (`subject_…`).

    `before` and `after` have the values that changed; secrets in them are masked.
    """

    at = serializers.DateTimeField()
    actor = serializers.CharField()
    action = serializers.CharField()
    subject_type = serializers.CharField()
    subject_id = serializers.CharField()
    subject_name = serializers.CharField()
    before = serializers.DictField()
    after = serializers.DictField()
    reason = serializers.CharField(allow_blank=True)
    source_ip = serializers.CharField(allow_blank=True)


class AuditEventsView(TenantView):
    """Lists the audit events of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_AUDIT}

    @schema.describe(
        "List audit events", response=schema.page_of(AuditEventSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the audit events of the tenant, newest first."""
        rows = queries.list_audit(self.tenant)
        # By id too, because several events can have the same time.
        page = pagination.page(request, rows, "at", "id", descending=True)
        return Response(pagination.body(page, AuditEventSerializer))
