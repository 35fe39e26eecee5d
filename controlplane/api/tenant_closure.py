"""/tenants/{tenant}/closure and /export: the end of a tenant, and a copy of what it set up."""

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
    """When the erasure of the tenant begins; null: nobody has requested to close it."""

    erase_at = serializers.DateTimeField(allow_null=True)


class ExportSerializer(serializers.Serializer[Any]):
    """A tenant's settings, people, spaces, addresses and audit log, without any secrets."""

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
        """Return when the erasure begins; null if nobody has requested to close it."""
        return Response(ClosureSerializer(self.tenant).data)

    @schema.describe(
        "Close a tenant",
        request=ClosureRequestSerializer,
        response=ClosureSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Request that the tenant is closed: clients cannot send, and members can change little.

        From `erase_at` on, its spaces and messages are deleted, and its plan ends; until then an
        owner can undo this. Its members are removed and its tokens revoked later, once every
        invoice is issued. Invoices, usage and the audit log stay. A repeated request keeps the
        first time.
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

        The request is refused (409) from `erase_at` on.
        """
        kept = closures.undo(tenant=self.tenant, by=self.actor)
        return Response(ClosureSerializer(kept).data)


class ExportView(TenantView):
    """Exports the settings, people, spaces and audit log of the tenant (GET)."""

    needs = {"GET": Permission.MANAGE_TENANT}

    @schema.describe("Export a tenant", response=ExportSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the settings, people, spaces, addresses and audit log of the tenant.

        Secrets, messages, usage and invoices are not in it: clients receive messages, and usage and
        invoices have operations of their own.
        """
        return Response(
            {"exported_at": timezone.now(), "document": exporting.document(self.tenant)}
        )
