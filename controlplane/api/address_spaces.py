"""/tenants/{tenant}/address-spaces: a tenant's address spaces, isolated from one another."""

from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, label_fields, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import (
    ChoiceOf,
    OperationSerializer,
    ReconciledSerializer,
    StrictSerializer,
    for_caller,
)
from controlplane.api.views import TenantView, accepted
from controlplane.core.errors import Invalid
from controlplane.core.phases import Phase
from tenants import admission, permissions, queries
from tenants.actions import address_spaces, new_spaces, space_plans
from tenants.models import AddressSpace, Endpoint, SpaceType
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"name": ("name",), "created_at": ("created_at", "id"), "phase": ("phase", "name")},
    default="name",
    filters=(
        listing.choice("type", "Spaces of this type.", SpaceType.values),
        listing.choice("phase", "Spaces in this phase.", Phase.values),
        listing.Filter("plan", "Spaces on this space plan.", ("space_plan__key",)),
        label_fields.FILTER,
        listing.search("Part of the name.", "name"),
    ),
)
# A query parameter, because proxies and some clients drop the body of a DELETE.
_VOLUMES = OpenApiParameter(
    "volumes",
    str,
    enum=["delete", "keep"],
    description="What happens to stored messages: they are deleted (the default), or kept on the "
    "brokers' volumes until an operator releases them.",
)


class AddressSpaceCreateSerializer(StrictSerializer):
    """A space to create. Its name and type can never change; its plan can."""

    name = serializers.CharField(max_length=63)
    type = ChoiceOf(SpaceType.choices)
    plan = serializers.CharField(max_length=63, help_text="A space plan, e.g. brokered-small.")
    labels = label_fields.input_field()
    dead_letters = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether to create the address `dead-letters`, which takes the rejected and "
        "expired messages of new queues and topics. Null or absent: if the tenant's plan includes "
        "an address plan for it.",
    )


class AddressSpaceChangeSerializer(StrictSerializer):
    """What changes of a space: its plan, its labels or both; nothing else can change."""

    plan = serializers.CharField(
        max_length=63, required=False, help_text="Another plan for spaces of its type."
    )
    labels = label_fields.input_field()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a request that changes nothing."""
        if not attrs:
            raise serializers.ValidationError({"plan": ["Send plan, labels or both."]})
        return attrs


class EndpointSerializer(serializers.Serializer[Any]):
    """A host and port where clients of a space connect, and which authorities they must trust."""

    name = serializers.CharField()
    protocol = serializers.CharField()
    host = serializers.CharField()
    port = serializers.IntegerField()
    certificate_pem = serializers.CharField(
        help_text="The certificate authorities to trust (PEM); empty where clients trust the "
        "signer already."
    )


class AddressSpaceSerializer(ReconciledSerializer):
    """An address space: its desired state, its observed state and its endpoints."""

    id = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    # The key without its version: clients choose plans, and the catalog chooses the version.
    plan = serializers.CharField(source="space_plan.key")
    labels = label_fields.output_field()
    send_withdrawn = serializers.BooleanField(
        help_text="True while no client may send: a quota is used up, invoices are unpaid, or the "
        "tenant is suspended or being closed."
    )
    send_withdrawn_reason = serializers.CharField(
        allow_blank=True,
        help_text="Why no client may send: `quota`, `unpaid_invoices`, `suspension` or `closure`. "
        "Empty while clients may send.",
    )
    throttle_percent = serializers.IntegerField(
        allow_null=True,
        help_text="The part of the plan's limits of connections and message rates that clients "
        "have while a used-up quota throttles them; null: all of it.",
    )
    connections_refused = serializers.BooleanField(
        help_text="True while no client may connect: a quota is used up, or invoices are unpaid."
    )
    probed_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When probe messages last passed through every type of address in use, on every "
        "broker and router. They use internal addresses, never those of the tenant.",
    )
    silent_since = serializers.DateTimeField(
        allow_null=True,
        help_text="Since when a broker or router has not answered; null if all answer.",
    )
    endpoints = EndpointSerializer(many=True)


class AddressSpacesView(TenantView):
    """Lists the spaces of a tenant (GET) and creates one (POST)."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_MESSAGING}
    filters_spaces = True

    @schema.describe(
        "List spaces",
        response=schema.page_of(AddressSpaceSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the spaces of the tenant that are not deleted."""
        rows = with_relations(queries.list_spaces(self.tenant))
        if self.limited_to:
            rows = rows.filter(name__in=self.limited_to)
        page = _LISTING.page(request, rows)
        return Response(pagination.body(page, AddressSpaceSerializer, for_caller(request)))

    @schema.describe(
        "Create a space",
        request=AddressSpaceCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Check quotas and begin to create the space.

        The operation succeeds when the space is Active.
        """
        serializer = AddressSpaceCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        if self.limited_to and values["name"] not in self.limited_to:
            raise permissions.OutOfScope(
                f"This token is limited to the spaces {', '.join(self.limited_to)}."
            )
        with transaction.atomic():
            row, operation = new_spaces.create(
                tenant=self.tenant,
                name=values["name"],
                type=values["type"],
                space_plan=values["plan"],
                by=self.actor,
                with_dead_letters=values["dead_letters"],
            )
            label_fields.replace(row, values, self.actor)
        return accepted(operation, self.tenant)


class AddressSpaceView(TenantView):
    """Shows one space of a tenant (GET), changes it (PATCH), and deletes it (DELETE)."""

    needs = {
        "GET": Permission.VIEW,
        "PATCH": Permission.MANAGE_MESSAGING,
        "DELETE": Permission.MANAGE_MESSAGING,
    }

    @schema.describe("Get a space", response=AddressSpaceSerializer)
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the space with endpoints and conditions. The ETag identifies the desired state."""
        return self._shown(queries.get_space(self.tenant, space))

    @schema.describe(
        "Change a space's plan or labels",
        request=AddressSpaceChangeSerializer,
        response={200: AddressSpaceSerializer, 202: OperationSerializer},
        parameters=[schema.MUST_MATCH],
        operation_id="change_space_plan",
    )
    def patch(self, request: Request, tenant: str, space: str) -> Response:
        """Move the space to another plan, replace its labels, or both.

        The new price applies at once, the size after restarts: brokers and routers restart one at a
        time, and the operation ends when all have their new size (202). A plan that is too small
        for the contents of the space, or has other volumes, is refused.
        Labels alone are changed at once, and the answer is the space (200).
        """
        serializer = AddressSpaceChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        row = queries.get_space(self.tenant, space)
        with transaction.atomic():
            admission.locked_tenant(self.tenant)  # before the space, as everywhere
            with etags.guarded(request, row, with_labels="labels" in values) as current:
                label_fields.replace(current, values, self.actor)
                if "plan" not in values:
                    return self._shown(current)
                operation = space_plans.change(
                    space=current, space_plan=values["plan"], by=self.actor
                )
        return accepted(operation, self.tenant)

    @schema.describe(
        "Delete a space",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IF_MATCH, _VOLUMES],
    )
    def delete(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to delete the space with all its addresses, users and stored messages.

        `volumes=keep` keeps the messages. A repeated request returns the first operation and
        ignores `volumes`. The past usage of the space is still billed.
        """
        keep = keeps_volumes(request)
        with etags.guarded(request, queries.get_space(self.tenant, space)) as row:
            operation = address_spaces.delete(space=row, by=self.actor, keep_volumes=keep)
        return accepted(operation, self.tenant)

    def _shown(self, row: AddressSpace) -> Response:
        body = AddressSpaceSerializer(row, context=for_caller(self.request)).data
        return Response(body, headers=etags.headers(row))


def keeps_volumes(request: Request) -> bool:
    """Return whether the query parameter ``volumes`` is ``keep``; False without the parameter.

    Raises:
        Invalid: the value is neither ``keep`` nor ``delete``. A misspelled ``keep`` must not delete
            messages.
    """
    volumes = request.query_params.get("volumes", "delete")
    if volumes not in ("delete", "keep"):
        raise Invalid(
            "`volumes` must be delete or keep: it decides what happens to stored messages.",
            code="request.invalid",
            volumes=["One of: delete, keep."],
        )
    return volumes == "keep"


def with_relations(rows: QuerySet[AddressSpace]) -> QuerySet[AddressSpace]:
    """Return ``rows``, which then load in two queries all that ``AddressSpaceSerializer`` reads."""
    return rows.select_related("space_plan").prefetch_related(
        Prefetch("endpoints", Endpoint.objects.order_by("name"))
    )
