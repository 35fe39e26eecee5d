"""/tenants/{tenant}/address-spaces: isolated messaging spaces."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import (
    ChoiceOf,
    OperationSerializer,
    ReconciledSerializer,
    StrictSerializer,
)
from controlplane.api.views import TenantView, accepted
from controlplane.core.errors import Invalid
from tenants import queries
from tenants.actions import address_spaces, space_plans
from tenants.models import AddressSpace, Endpoint, SpaceType
from tenants.permissions import Permission

_VOLUMES = OpenApiParameter(
    "volumes",
    str,
    enum=["delete", "keep"],
    description="What becomes of stored messages: deleted (when absent), or kept on the brokers' "
    "volumes until an operator releases them.",
)


class AddressSpaceCreateSerializer(StrictSerializer):
    """A wish for a space. ``type`` and name stay for its life."""

    name = serializers.CharField(max_length=63)
    type = ChoiceOf(SpaceType.choices)
    plan = serializers.CharField(max_length=63, help_text="A space plan, e.g. brokered-small.")


class AddressSpaceChangeSerializer(StrictSerializer):
    """What of a space can change."""

    plan = serializers.CharField(max_length=63, help_text="Another plan for spaces of its type.")


class EndpointSerializer(serializers.Serializer[Any]):
    """Where clients connect, and whom they must trust."""

    name = serializers.CharField()
    protocol = serializers.CharField()
    host = serializers.CharField()
    port = serializers.IntegerField()
    certificate_pem = serializers.CharField(
        help_text="The authorities to trust (PEM); empty where clients know already who signed."
    )


class AddressSpaceSerializer(ReconciledSerializer):
    """A space: what is wished and what was observed."""

    id = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    plan = serializers.CharField(source="space_plan.key")
    send_withdrawn = serializers.BooleanField(
        help_text="True while a used-up quota keeps every client from sending."
    )
    endpoints = EndpointSerializer(many=True)


class AddressSpacesView(TenantView):
    """The spaces of a tenant."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_MESSAGING}

    @schema.describe(
        "List spaces", response=schema.page_of(AddressSpaceSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """By name."""
        page = pagination.page(request, _whole(queries.list_spaces(self.tenant)), "name")
        return Response(pagination.body(page, AddressSpaceSerializer))

    @schema.describe(
        "Create a space",
        request=AddressSpaceCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Admit the space and begin to make it; the operation tells when it is Active."""
        asked = AddressSpaceCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        _, operation = address_spaces.create(
            tenant=self.tenant,
            name=values["name"],
            type=values["type"],
            space_plan=values["plan"],
            by=self.actor,
        )
        return accepted(operation, self.tenant)


class AddressSpaceView(TenantView):
    """One space."""

    needs = {
        "GET": Permission.VIEW,
        "PATCH": Permission.MANAGE_MESSAGING,
        "DELETE": Permission.MANAGE_MESSAGING,
    }

    @schema.describe("Get a space", response=AddressSpaceSerializer)
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """With its endpoints and conditions; the ETag names its desired state."""
        row = queries.get_space(self.tenant, space)
        return Response(AddressSpaceSerializer(row).data, headers=etags.headers(row.generation))

    @schema.describe(
        "Change a space's plan",
        request=AddressSpaceChangeSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IF_MATCH],
    )
    def patch(self, request: Request, tenant: str, space: str) -> Response:
        """Move the space to another plan: its price from now on, its size after restarts.

        Brokers and routers restart one at a time; the operation tells when all run in their new
        size. A plan that is too small for what is in the space is refused.
        """
        asked = AddressSpaceChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        row = queries.get_space(self.tenant, space)
        etags.require_match(request, row.generation)
        operation = space_plans.change(
            space=row,
            space_plan=asked.validated_data["plan"],
            by=self.actor,
            if_generation=row.generation if etags.expected(request) else None,
        )
        return accepted(operation, self.tenant)

    @schema.describe(
        "Delete a space",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IF_MATCH, _VOLUMES],
    )
    def delete(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to take the space apart; what it used is still billed."""
        keep = _asks_to_keep(request)
        with etags.guarded(request, queries.get_space(self.tenant, space)) as row:
            operation = address_spaces.delete(space=row, by=self.actor, keep_volumes=keep)
        return accepted(operation, self.tenant)


def _asks_to_keep(request: Request) -> bool:
    asked = request.query_params.get("volumes", "delete")
    if asked not in ("delete", "keep"):
        raise Invalid(
            "`volumes` says what becomes of stored messages: delete or keep.",
            code="request.invalid",
            volumes=["One of: delete, keep."],
        )
    return asked == "keep"


def _whole(rows: QuerySet[AddressSpace]) -> QuerySet[AddressSpace]:
    """Return the rows with all that the serializer reads, in a constant number of queries."""
    return rows.select_related("space_plan").prefetch_related(
        Prefetch("endpoints", Endpoint.objects.order_by("name"))
    )
