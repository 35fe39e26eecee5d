"""/tenants/{tenant}/address-spaces/{space}/addresses: what clients send to and receive from."""

from typing import Any

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
from controlplane.core.errors import Conflict, Missing
from tenants import queries
from tenants.actions import addresses
from tenants.address_rules import AddressSettings
from tenants.models import Address, AddressSpace, AddressType
from tenants.permissions import Permission

_LARGEST = 2**53 - 1  # many JSON clients use doubles and lose digits of larger integers


class FixedAtCreation(Conflict):
    """Type, plan and topic of an address can never change."""

    code = "address.fixed_at_creation"


class AddressSpecSerializer(StrictSerializer):
    """The full desired state of an address. An absent or null setting has the plan's value."""

    type = ChoiceOf(AddressType.choices)
    plan = serializers.CharField(max_length=63, help_text="An address plan of the space's type.")
    topic = serializers.CharField(
        max_length=255,
        required=False,
        default="",
        allow_blank=True,
        help_text="For a subscription: the topic that it subscribes to.",
    )
    message_ttl_ms = serializers.IntegerField(
        min_value=0, max_value=_LARGEST, required=False, allow_null=True, default=None
    )
    max_delivery_attempts = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, allow_null=True, default=None
    )
    redelivery_delay_ms = serializers.IntegerField(
        min_value=0, max_value=_LARGEST, required=False, allow_null=True, default=None
    )
    max_bytes = serializers.IntegerField(
        min_value=0, max_value=_LARGEST, required=False, allow_null=True, default=None
    )
    dead_letter = serializers.CharField(
        max_length=255,
        required=False,
        default="",
        allow_blank=True,
        help_text="Another queue of the space (brokered spaces only).",
    )


class AddressCreateSerializer(AddressSpecSerializer):
    """An address to create."""

    # Not trimmed: the address rules refuse spaces, instead of creating another name than was sent.
    address = serializers.CharField(max_length=255, trim_whitespace=False)


class AddressSerializer(ReconciledSerializer):
    """An address: its desired state and its observed state."""

    id = serializers.CharField()
    address = serializers.CharField()
    type = serializers.CharField()
    plan = serializers.CharField(source="address_plan.key")
    topic = serializers.CharField(source="topic.address", default="")
    message_ttl_ms = serializers.IntegerField(allow_null=True)
    max_delivery_attempts = serializers.IntegerField(allow_null=True)
    redelivery_delay_ms = serializers.IntegerField(allow_null=True)
    max_bytes = serializers.IntegerField(allow_null=True)
    dead_letter = serializers.CharField(allow_blank=True)
    probed_at = serializers.DateTimeField(
        allow_null=True, help_text="When a probe message last went through."
    )


class AddressesView(TenantView):
    """The addresses of a space."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_MESSAGING}

    @schema.describe(
        "List addresses", response=schema.page_of(AddressSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the addresses ordered by name."""
        found = queries.list_addresses(queries.get_space(self.tenant, space))
        rows = found.select_related("address_plan", "topic")
        page = pagination.page(request, rows, "address")
        return Response(pagination.body(page, AddressSerializer))

    @schema.describe(
        "Create an address",
        request=AddressCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Check quotas and begin to create the address. The operation ends when messages pass."""
        row = queries.get_space(self.tenant, space)
        serializer = AddressCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        operation = _create(self, row, values.pop("address"), values)
        return accepted(operation, self.tenant)


class AddressView(TenantView):
    """One address; its name may have slashes, which need no escaping in the path."""

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_MESSAGING,
        "DELETE": Permission.MANAGE_MESSAGING,
    }

    @schema.describe("Get an address", response=AddressSerializer)
    def get(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Return the address with its conditions. The ETag identifies its desired state."""
        row = queries.get_address(queries.get_space(self.tenant, space), address)
        return _answer(row)

    @schema.describe(
        "Create or change an address",
        request=AddressSpecSerializer,
        response={200: AddressSerializer, 202: OperationSerializer},
        parameters=[schema.IF_MATCH],
    )
    def put(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Create the address, or change it to the settings of the body.

        The answer is 202 with an operation, or 200 if nothing changes.
        """
        space_row = queries.get_space(self.tenant, space)
        serializer = AddressSpecSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = _find(space_row, address)
        if row is None:
            # If-Match means "change what I read", so it is refused where nothing exists.
            etags.require_match(request, None)
            operation = _create(self, space_row, address, serializer.validated_data)
            return accepted(operation, self.tenant)
        return self._change(request, row, serializer.validated_data)

    @schema.describe(
        "Delete an address", response=OperationSerializer, status=202, parameters=[schema.IF_MATCH]
    )
    def delete(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Begin to delete the address and its stored messages. Its past usage is still billed."""
        row = queries.get_address(queries.get_space(self.tenant, space), address)
        with etags.guarded(request, row) as current:
            operation = addresses.delete(address=current, by=self.actor)
        return accepted(operation, self.tenant)

    def _change(self, request: Request, row: Address, spec: dict[str, Any]) -> Response:
        topic = row.topic.address if row.topic else ""
        fixed = {"type": row.type, "plan": row.address_plan.key, "topic": topic}
        changed = [name for name, value in fixed.items() if spec[name] != value]
        if changed:
            raise FixedAtCreation(
                f"{', '.join(changed)} cannot change: delete the address and create it again.",
                present={name: fixed[name] for name in changed},
            )
        with etags.guarded(request, row) as current:
            # A repeated PUT must not raise the generation, or every client would get a new ETag.
            if _settings(spec) == _present(current):
                return _answer(current)
            _, operation = addresses.update(
                address=current, settings=_settings(spec), by=self.actor
            )
        return accepted(operation, self.tenant)


def _create(view: TenantView, space: AddressSpace, name: str, spec: dict[str, Any]) -> Any:
    _, operation = addresses.create(
        space=space,
        address=name,
        type=spec["type"],
        address_plan=spec["plan"],
        settings=_settings(spec),
        by=view.actor,
    )
    return operation


def _answer(row: Address) -> Response:
    return Response(AddressSerializer(row).data, headers=etags.headers(row.generation))


def _find(space: AddressSpace, address: str) -> Address | None:
    try:
        return queries.get_address(space, address)
    except Missing:
        return None


def _settings(spec: dict[str, Any]) -> AddressSettings:
    return AddressSettings(
        **{name: value for name, value in spec.items() if name not in {"type", "plan"}}
    )


def _present(row: Address) -> AddressSettings:
    names = AddressSettings().columns()
    topic = row.topic.address if row.topic else ""
    return AddressSettings(**{name: getattr(row, name) for name in names}, topic=topic)
