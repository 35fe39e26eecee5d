"""/tenants/{tenant}/address-spaces/{space}/messages: operations on the messages of an address.

Each POST is answered with an operation. A worker carries it out. The page that a ``browse`` read is
fetched by the operation's ``subject_id`` and is deleted after five minutes.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView, accepted
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import message_requests
from tenants.models import Address, AddressSpace, MessageRequestKind
from tenants.permissions import OF_MESSAGES, Permission


class AddressedSerializer(StrictSerializer):
    """The address whose messages are meant."""

    address = serializers.CharField(max_length=255, trim_whitespace=False)


class BrowseSerializer(AddressedSerializer):
    """Which page to read."""

    after = serializers.CharField(
        default="", allow_blank=True, max_length=80, help_text="`next` of the previous page."
    )


class MessageIdsField(serializers.ListField):
    """Ids of messages, as a page shows them."""

    child = serializers.CharField(max_length=80)


class SelectedSerializer(AddressedSerializer):
    """Messages of an address."""

    messages = MessageIdsField(help_text="Ids of messages, as a page shows them; at most 500.")


class MoveSerializer(AddressedSerializer):
    """Messages to move, and where to."""

    to = serializers.CharField(max_length=255, trim_whitespace=False, help_text="A queue.")
    messages = MessageIdsField(allow_null=True, default=None, help_text="Ids; null moves all.")


class ResendSerializer(AddressedSerializer):
    """Dead letters to resend."""

    messages = MessageIdsField(allow_null=True, default=None, help_text="Ids; null resends all.")
    rate = serializers.IntegerField(
        allow_null=True, default=None, help_text="The most messages in a second; null: no limit."
    )


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]})
class PropertyField(serializers.Field[Any, Any, Any, Any]):
    """A value of an application property: text, number or boolean."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the value.

        Raises:
            ValidationError: it is an object, a list or null.
        """
        if not isinstance(data, str | int | float | bool):
            raise serializers.ValidationError("A property is a text, a number or a boolean.")
        return data


class SendSerializer(AddressedSerializer):
    """A test message."""

    body = serializers.CharField(allow_blank=True, trim_whitespace=False)
    properties = serializers.DictField(child=PropertyField(), default=dict)
    durable = serializers.BooleanField(default=True)


class MessageSerializer(serializers.Serializer[Any]):
    """A stored message. Times are milliseconds since 1970; 0 means none."""

    id = serializers.CharField()
    sent_ms = serializers.IntegerField()
    expires_ms = serializers.IntegerField()
    size = serializers.IntegerField()
    durable = serializers.BooleanField()
    priority = serializers.IntegerField()
    group = serializers.CharField()
    deliveries = serializers.IntegerField()
    came_from = serializers.CharField(help_text="The queue it was in before; empty if none.")
    properties = serializers.DictField()
    application_properties = serializers.DictField()
    body = serializers.CharField(help_text="At most 4096 bytes: a text, or base64 if `is_binary`.")
    is_binary = serializers.BooleanField()
    is_whole = serializers.BooleanField(help_text="False if `body` is only the begin.")


class MessagePageSerializer(serializers.Serializer[Any]):
    """A page of stored messages; ``next`` is empty on the last page."""

    messages = MessageSerializer(many=True)
    next = serializers.CharField()


class MessagesView(TenantView):
    """The base of the views that begin an operation."""

    serializer: type[AddressedSerializer]

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        """Begin the operation with the validated fields of ``serializer``."""
        raise NotImplementedError

    def answer(self, request: Request, space: str) -> Response:
        """Check the body and begin the operation; answer 202."""
        row = queries.get_space(self.tenant, space)
        serializer = self.serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        address = queries.get_address(row, values.pop("address"))
        return accepted(self.begin(row, address, values), self.tenant)


class BrowseView(MessagesView):
    """A page of stored messages."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.BROWSE]}
    serializer = BrowseSerializer

    @schema.describe(
        "Browse messages",
        request=BrowseSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to read a page of stored messages. Nothing is consumed."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.browse(address=address, by=self.actor, **values)


class SendView(MessagesView):
    """A test message."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.SEND]}
    serializer = SendSerializer

    @schema.describe(
        "Send a message",
        request=SendSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to send a test message to a queue or topic. It is not billed."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.send(address=address, by=self.actor, **values)


class PurgeView(MessagesView):
    """All messages of an address."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.PURGE]}
    serializer = AddressedSerializer

    @schema.describe(
        "Purge messages",
        request=AddressedSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to delete all messages that the address holds now."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.purge(address=address, by=self.actor)


class DeleteView(MessagesView):
    """Selected messages of an address."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.DELETE]}
    serializer = SelectedSerializer

    @schema.describe(
        "Delete messages",
        request=SelectedSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to delete the selected messages; those that are gone are left out."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.delete(address=address, by=self.actor, **values)


class MoveView(MessagesView):
    """Messages that move to another queue."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.MOVE]}
    serializer = MoveSerializer

    @schema.describe(
        "Move messages",
        request=MoveSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to move messages to another queue of the space."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        to = queries.get_address(space, values.pop("to"))
        return message_requests.move(address=address, to=to, by=self.actor, **values)


class ResendView(MessagesView):
    """Dead letters that return to where they came from."""

    needs = {"POST": OF_MESSAGES[MessageRequestKind.RESEND]}
    serializer = ResendSerializer

    @schema.describe(
        "Resend messages",
        request=ResendSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to move dead letters back to the queues that they came from."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.resend(address=address, by=self.actor, **values)


class MessagePageView(TenantView):
    """The page that an operation read."""

    needs = {"GET": Permission.READ_MESSAGES}

    @schema.describe("Get a page of messages", response=MessagePageSerializer)
    def get(self, request: Request, tenant: str, space: str, page: str) -> Response:
        """Return the page that the operation with this ``subject_id`` read; empty until it ends."""
        row = queries.get_message_request(queries.get_space(self.tenant, space), page)
        return Response(message_requests.page_of(row))
