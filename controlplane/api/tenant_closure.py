"""/tenants/{tenant}/closure and /export: the end of a tenant, and everything stored about it."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import TenantView
from controlplane.core.errors import Invalid
from tenants import exporting
from tenants.actions import closures
from tenants.permissions import Permission


class ClosureRequestSerializer(StrictSerializer):
    """The slug of the tenant, typed once more, so that no wrong tenant is closed."""

    confirm = serializers.CharField(max_length=63)


class ClosureSerializer(serializers.Serializer[Any]):
    """When the tenant is erased; null: nobody has requested to close it."""

    erase_at = serializers.DateTimeField(allow_null=True)


class ExportSerializer(serializers.Serializer[Any]):
    """What Waypost stores about a tenant, without secrets, messages and invoices."""

    exported_at = serializers.DateTimeField()
    document = serializers.DictField(help_text="One list of rows for each kind of them.")


class ClosureView(TenantView):
    """Shows whether the tenant is being closed (GET), requests it (POST), undoes it (DELETE)."""

    needs = {
        "GET": Permission.MANAGE_TENANT,
        "POST": Permission.MANAGE_TENANT,
        "DELETE": Permission.MANAGE_TENANT,
    }

    @schema.describe("Get the closure", response=ClosureSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return when the tenant is erased; null if nobody has requested to close it."""
        return Response(ClosureSerializer(self.tenant).data)

    @schema.describe(
        "Close a tenant",
        request=ClosureRequestSerializer,
        response=ClosureSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Request that the tenant is closed: its clients cannot send, and nothing can be changed.

        At `erase_at` its spaces, messages, members and tokens are erased; until then an owner can
        undo this. Invoices and the audit log stay. A repeated request keeps the first time.
        """
        serializer = ClosureRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if serializer.validated_data["confirm"] != self.tenant.slug:
            raise Invalid(
                "`confirm` must be the slug of this tenant.",
                code="request.invalid",
                confirm=[f"Send {self.tenant.slug}."],
            )
        closing = closures.request(tenant=self.tenant, by=self.actor)
        return Response(ClosureSerializer(closing).data)

    @schema.describe("Keep a tenant", response=ClosureSerializer)
    def delete(self, request: Request, tenant: str) -> Response:
        """Undo the request to close the tenant. Workers let clients send again.

        It is refused once the erasure has begun.
        """
        kept = closures.undo(tenant=self.tenant, by=self.actor)
        return Response(ClosureSerializer(kept).data)


class ExportView(TenantView):
    """Exports everything that is stored about the tenant (GET)."""

    needs = {"GET": Permission.MANAGE_TENANT}

    @schema.describe("Export a tenant", response=ExportSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return what Waypost stores about the tenant: people, spaces, addresses, the audit log.

        Secrets, messages and invoices are not in it: clients receive messages, and invoices have
        operations of their own.
        """
        return Response(
            {"exported_at": timezone.now(), "document": exporting.document(self.tenant)}
        )
