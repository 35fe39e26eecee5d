"""/tenants/{tenant}/operations: long-running changes of a tenant, and their outcomes."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.serializers import OperationSerializer
from controlplane.api.views import TenantView
from tenants import queries
from tenants.permissions import Permission


class OperationsView(TenantView):
    """Lists the operations of a tenant (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "List operations", response=schema.page_of(OperationSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return running and ended operations of the tenant, newest first."""
        rows = queries.list_operations(self.tenant)
        # The id too, because two operations can begin at the same time.
        page = pagination.page(request, rows, "created_at", "id", descending=True)
        return Response(pagination.body(page, OperationSerializer))


class OperationView(TenantView):
    """Shows one operation of a tenant (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get an operation", response=OperationSerializer)
    def get(self, request: Request, tenant: str, operation: str) -> Response:
        """Return the operation. Poll it at most once a second, until ``state`` is not Running."""
        row = queries.get_operation(self.tenant, operation)
        return Response(OperationSerializer(row).data)
