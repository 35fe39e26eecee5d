"""/tenants/{tenant}/address-spaces/{space}/addresses: queues, topics and other addresses."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import (
    etags,
    label_fields,
    listing,
    live,
    pagination,
    schema,
    setting_fields,
)
from controlplane.api.idempotency import idempotent
from controlplane.api.live import LiveSerializer
from controlplane.api.serializers import (
    ChoiceOf,
    OperationSerializer,
    ReconciledSerializer,
    StrictSerializer,
    for_caller,
)
from controlplane.api.views import TenantView, accepted
from controlplane.core.address_types import SETTINGS, AddressSettings
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from tenants import dead_letters, queries
from tenants.actions import addresses
from tenants.models import Address, AddressSpace, AddressType
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={
        "address": ("address",),
        "created_at": ("created_at", "id"),
        "phase": ("phase", "address"),
        "type": ("type", "address"),
    },
    default="address",
    filters=(
        listing.choice("type", "Addresses of this type.", AddressType.values),
        listing.choice("phase", "Addresses in this phase.", Phase.values),
        listing.Filter("plan", "Addresses on this address plan.", ("address_plan__key",)),
        label_fields.FILTER,
        listing.search("Part of the name.", "address"),
    ),
)


class FixedAtCreation(Conflict):
    """A request would change the type, plan, topic or last-value key of an existing address."""

    code = "address.fixed_at_creation"


class AddressSpecSerializer(StrictSerializer):
    """The full desired state of an address. A setting that is absent or null has its default.

    The default of a number is the plan's value. The default of ``dead_letter`` is the space's
    address ``dead-letters``, if there is one. Any other text or name is empty by default.
    """

    type = ChoiceOf(AddressType.choices)
    plan = serializers.CharField(max_length=63, help_text="An address plan of the space's type.")
    labels = label_fields.input_field()

    def get_fields(self) -> dict[str, setting_fields.Field]:
        """Return the declared fields, and an input field for each setting of the registry."""
        return {**super().get_fields(), **setting_fields.input_fields()}


class AddressCreateSerializer(AddressSpecSerializer):
    """An address to create: its name, which is `address`, and its desired state."""

    # Not trimmed: the address rules refuse spaces, instead of creating another name than was sent.
    address = serializers.CharField(max_length=255, trim_whitespace=False)


class AddressLabelsSerializer(StrictSerializer):
    """The labels of an address, which replace all that it has."""

    labels = label_fields.input_field(is_required=True)


class AddressSerializer(ReconciledSerializer):
    """An address of a space: its desired state, its observed state and its newest reading."""

    id = serializers.CharField()
    address = serializers.CharField()
    type = serializers.CharField()
    plan = serializers.CharField(source="address_plan.key")
    labels = label_fields.output_field()
    deleted_when = serializers.SerializerMethodField(
        help_text="Which messages the broker deletes because no address takes them: `rejected`, "
        "`expired`. Empty if `dead_letter` and `expiry` take all of them.",
    )
    probed_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When a probe message last went through an internal address of the same type on "
        "its brokers and routers. No probe goes through the address itself.",
    )
    live = LiveSerializer(
        allow_null=True, help_text="The newest reading; null before the first one."
    )

    def get_fields(self) -> dict[str, setting_fields.Field]:
        """Return the declared fields, and an output field for each setting of the registry."""
        return {**super().get_fields(), **setting_fields.output_fields()}

    def get_deleted_when(self, row: Address) -> list[str]:
        """Return the value of ``deleted_when``."""
        return dead_letters.deleted_when(row)


class AddressChangesView(TenantView):
    """The base class of the views that create an address: by POST to the list, by PUT of a name."""

    def create(self, space: AddressSpace, name: str, spec: Mapping[str, Any]) -> Response:
        """Begin to create the address ``name`` as ``spec`` says; return 202 with the operation.

        ``spec`` are the validated fields of ``AddressSpecSerializer``. Raises what
        ``addresses.create`` raises, for example if the address exists.
        """
        return accepted(create_address(space, name, spec, self.actor), self.tenant)


class AddressesView(AddressChangesView):
    """Lists the addresses of a space (GET) and creates one (POST)."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_ADDRESSES}

    @schema.describe(
        "List addresses",
        response=schema.page_of(AddressSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the addresses of the space that are not deleted."""
        space_row = queries.get_space(self.tenant, space)
        found = queries.list_addresses(space_row)
        rows = found.select_related("address_plan", "topic")
        page = _LISTING.page(request, rows)
        live.attach(space_row, page.rows)
        return Response(pagination.body(page, AddressSerializer, for_caller(request)))

    @schema.describe(
        "Create an address",
        request=AddressCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Check quotas and begin to create the address.

        The operation succeeds when the address is ready.
        """
        row = queries.get_space(self.tenant, space)
        serializer = AddressCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        return self.create(row, values["address"], values)


class AddressView(AddressChangesView):
    """Shows one address of a space (GET), creates or changes it (PUT), and deletes it (DELETE).

    PATCH replaces its labels alone. The name of the address may have slashes, which need no
    escaping in the path.
    """

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_ADDRESSES,
        "PATCH": Permission.MANAGE_ADDRESSES,
        "DELETE": Permission.MANAGE_ADDRESSES,
    }

    @schema.describe("Get an address", response=AddressSerializer)
    def get(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Return the address with its conditions and its newest reading.

        The ETag identifies the desired state only.
        """
        row = queries.get_address(queries.get_space(self.tenant, space), address)
        return self._shown(row)

    @schema.describe(
        "Create or change an address",
        request=AddressSpecSerializer,
        response={200: AddressSerializer, 202: OperationSerializer},
        parameters=[schema.IF_MATCH, schema.IF_NONE_MATCH],
    )
    def put(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Begin to create the address, or to change it to the settings of the body.

        Send `If-None-Match: *` to create it, `If-Match` with its ETag to change it, or
        `If-Match: *` to change any state of it. A request with neither is refused (428).
        The answer is 202 with an operation, or 200 with the address if it has these settings
        already; labels change at once. Another type, plan, topic or last-value key than at the
        creation is refused (409).
        """
        space_row = queries.get_space(self.tenant, space)
        serializer = AddressSpecSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        found = queries.list_addresses(space_row).select_related("space__tenant")
        row = found.filter(address=address).first()
        if row is None:
            # If-Match means "change what I read", so it is refused where nothing exists.
            etags.require_match(request, None)
            return self.create(space_row, address, serializer.validated_data)
        return self._change(request, row, serializer.validated_data)

    @schema.describe(
        "Change an address's labels",
        request=AddressLabelsSerializer,
        response=AddressSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def patch(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Replace the labels of the address. Brokers and routers do not use them."""
        serializer = AddressLabelsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = queries.get_address(queries.get_space(self.tenant, space), address)
        with etags.guarded(request, row, with_labels=True) as current:
            label_fields.replace(current, serializer.validated_data, self.actor)
        return self._shown(current)

    @schema.describe(
        "Delete an address", response=OperationSerializer, status=202, parameters=[schema.IF_MATCH]
    )
    def delete(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Begin to delete the address with its stored messages.

        The request is refused (409) while the address is the topic or a target of other addresses.
        Past usage is still billed.
        """
        row = queries.get_address(queries.get_space(self.tenant, space), address)
        with etags.guarded(request, row) as current:
            operation = addresses.delete(address=current, by=self.actor)
        return accepted(operation, self.tenant)

    def _shown(self, row: Address) -> Response:
        live.attach(row.space, [row])
        return Response(
            AddressSerializer(row, context=for_caller(self.request)).data,
            headers=etags.headers(row),
        )

    def _change(self, request: Request, row: Address, spec: dict[str, Any]) -> Response:
        own = row.settings
        # PUT carries the full state, so the body also repeats what can never change.
        fixed = {
            setting.name: getattr(own, setting.name) for setting in SETTINGS if setting.is_fixed
        }
        fixed |= {"type": row.type, "plan": row.address_plan.key}
        changed = [name for name in spec if name in fixed and spec[name] != fixed[name]]
        if changed:
            raise FixedAtCreation(
                f"{', '.join(changed)} cannot change: delete the address and create it again.",
                present={name: fixed[name] for name in changed},
            )
        with etags.guarded(request, row, with_labels="labels" in spec) as current:
            label_fields.replace(current, spec, self.actor)
            wanted = settings_of(spec, current.space, current.type)
            # A repeated PUT must not raise the generation, or every client would get a new ETag.
            if wanted == current.settings:
                return self._shown(current)
            _, operation = addresses.update(address=current, settings=wanted, by=self.actor)
        return accepted(operation, self.tenant)


def create_address(space: AddressSpace, name: str, spec: Mapping[str, Any], by: Actor) -> Operation:
    """Begin to create the address ``name`` as ``spec`` says; return the operation.

    ``spec`` are the validated fields of ``AddressSpecSerializer``. Raises what ``addresses.create``
    raises, and ``labels.invalid``.
    """
    with transaction.atomic():
        row, operation = addresses.create(
            space=space,
            address=name,
            type=spec["type"],
            address_plan=spec["plan"],
            settings=settings_of(spec, space, spec["type"]),
            by=by,
        )
        label_fields.replace(row, spec, by)
    return operation


def settings_of(spec: Mapping[str, Any], space: AddressSpace, type: str) -> AddressSettings:
    """Return the settings in the validated body of a request, for an address of type ``type``.

    An absent target of dead letters is the default of the space; an empty one is none.
    """
    given = AddressSettings(
        **{setting.name: spec[setting.name] for setting in SETTINGS if setting.name in spec}
    )
    return given if "dead_letter" in spec else dead_letters.with_default(space, type, given)
