"""/tenants/{tenant}/audit-events: who did what to what."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.views import TenantView
from tenants import queries
from tenants.permissions import Permission


class AuditEventSerializer(serializers.Serializer[Any]):
    """One action; secrets in ``before`` and ``after`` are masked."""

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
    """The audit log of a tenant."""

    needs = {"GET": Permission.VIEW_AUDIT}

    @schema.describe(
        "List audit events", response=schema.page_of(AuditEventSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the events, newest first."""
        rows = queries.list_audit(self.tenant)
        # By id too, because several events can have the same time.
        page = pagination.page(request, rows, "at", "id", descending=True)
        return Response(pagination.body(page, AuditEventSerializer))
