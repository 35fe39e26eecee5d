"""/tenants/{tenant}/operations: long-running changes of a tenant, and their outcomes."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, listing, pagination, schema
from controlplane.api.authentication import TokenPrincipal
from controlplane.api.serializers import OperationSerializer
from controlplane.api.views import TenantView
from controlplane.core.models import Operation
from tenants import queries
from tenants.permissions import OutOfScope, Permission

# The id too, because two operations can begin at the same time.
_LISTING = listing.Listing(
    sorts={"created_at": ("created_at", "id")},
    default="-created_at",
    filters=(
        listing.choice("state", "Operations in this state.", Operation.State.values),
        listing.Filter("kind", "Operations of this kind, such as address.create."),
        listing.Filter("subject_type", "Operations on this type of subject, such as address."),
        listing.Filter("subject_id", "Operations on the subject with this id."),
        listing.Filter("subject_name", "Operations on subjects of this name."),
    ),
)


class OperationsView(TenantView):
    """Lists the operations of a tenant (GET)."""

    needs = {"GET": Permission.VIEW}
    filters_spaces = True

    @schema.describe(
        "List operations",
        response=schema.page_of(OperationSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return running and ended operations of the tenant."""
        rows = queries.list_operations(self.tenant, self.limited_to)
        page = _LISTING.page(request, rows)
        return Response(pagination.body(page, OperationSerializer))


class OperationView(TenantView):
    """Shows one operation of a tenant (GET).

    A token without the permission ``view`` sees the operations that it started itself.
    """

    needs = {"GET": Permission.VIEW}
    filters_spaces = True

    def authorize(self, request: Request, **kwargs: Any) -> None:
        """Check as ``TenantView`` does, but let a token read what it started.

        Raises:
            OutOfScope: the token lacks the permission, and it did not start the operation.
            Others: as ``TenantView.authorize`` raises them.
        """
        try:
            super().authorize(request, **kwargs)
        except OutOfScope:
            caller = authentication.caller(request)
            if not isinstance(caller, TokenPrincipal):
                raise
            self.limited_to = tuple(caller.token.spaces)
            if not queries.is_started_by(caller.token, kwargs["operation"]):
                raise

    @schema.describe("Get an operation", response=OperationSerializer)
    def get(self, request: Request, tenant: str, operation: str) -> Response:
        """Return the operation. Poll it at most once a second, until `state` is not Running.

        A token needs no permission to read an operation that it started itself.
        """
        row = queries.get_operation(self.tenant, operation, self.limited_to)
        return Response(OperationSerializer(row).data)
