"""/tenants/{tenant}/address-spaces/{space}/messages: operations on the messages of an address.

Each POST is answered with an operation, which a worker carries out. A client gets the page that a
``browse`` has read with the ``subject_id`` of the operation. The page is deleted after some five
minutes.
"""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView, accepted
from controlplane.core import instants
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import message_requests
from tenants.models import Address, AddressSpace, MessageRequestKind
from tenants.permissions import OF_MESSAGES, Permission


class AddressedSerializer(StrictSerializer):
    """Names the address whose messages are read or changed, or to which a message is sent."""

    address = serializers.CharField(max_length=255, trim_whitespace=False)


class BrowseSerializer(AddressedSerializer):
    """A page of an address to read; `after` is empty for the first page."""

    after = serializers.CharField(
        default="", allow_blank=True, max_length=80, help_text="`next` of the previous page."
    )


class MessageIdsField(serializers.ListField):
    """A list of ids of messages, as a page of stored messages shows them."""

    child = serializers.CharField(max_length=80)


class SelectedSerializer(AddressedSerializer):
    """Messages to delete: an address, and ids of messages that it stores."""

    messages = MessageIdsField(help_text="Ids of messages, as a page shows them; at most 500.")


class MoveSerializer(AddressedSerializer):
    """Messages to move: from the queue or subscription `address` to the queue `to`."""

    to = serializers.CharField(max_length=255, trim_whitespace=False, help_text="A queue.")
    messages = MessageIdsField(allow_null=True, default=None, help_text="Ids; null moves all.")


class ResendSerializer(AddressedSerializer):
    """Messages of an address to send back to the queues that they came from, and how fast."""

    messages = MessageIdsField(allow_null=True, default=None, help_text="Ids; null resends all.")
    rate = serializers.IntegerField(
        allow_null=True, default=None, help_text="The most messages in a second; null: no limit."
    )


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]})
class PropertyField(serializers.Field[Any, Any, Any, Any]):
    """A field for the value of an application property: a text, a number or a boolean."""

    def to_internal_value(self, data: Any) -> Any:
        """Return ``data`` unchanged.

        Raises:
            ValidationError: ``data`` is an object, a list or null.
        """
        # AMQP 1.0, 3.2.5: an application property is a simple value, neither a map nor a list.
        if not isinstance(data, str | int | float | bool):
            raise serializers.ValidationError("A property is a text, a number or a boolean.")
        return data


class SendSerializer(AddressedSerializer):
    """A test message to send: its address, its text, application properties, and durability."""

    body = serializers.CharField(allow_blank=True, trim_whitespace=False)
    properties = serializers.DictField(child=PropertyField(), default=dict)
    durable = serializers.BooleanField(default=True)


class MillisecondsField(serializers.DateTimeField):
    """An instant of a message: stored as milliseconds since 1970 (0: none), shown as a time."""

    def to_representation(self, value: int) -> str | None:  # type: ignore[override]  # a number
        """Return the instant in the form of the API; None if there is none."""
        instant = instants.of_message(value)
        return instants.text(instant) if instant else None


class MessageSerializer(serializers.Serializer[Any]):
    """A stored message, as its broker shows it. A time is null if the message has none."""

    id = serializers.CharField()
    sent_at = MillisecondsField(
        source="sent_ms",
        allow_null=True,
        help_text="The creation time that the sender set. Null if it set none.",
    )
    expires_at = MillisecondsField(source="expires_ms", allow_null=True)
    size = serializers.IntegerField()
    durable = serializers.BooleanField()
    priority = serializers.IntegerField()
    group = serializers.CharField()
    deliveries = serializers.SerializerMethodField(
        help_text="How often it was delivered from this queue. Null if it came from another queue "
        "and was not delivered from this one yet: brokers do not keep the earlier count."
    )
    came_from = serializers.CharField(help_text="The queue it was in before; empty if none.")
    properties = serializers.DictField()
    application_properties = serializers.DictField()
    body = serializers.CharField(help_text="At most 4096 bytes: a text, or base64 if `is_binary`.")
    is_binary = serializers.BooleanField()
    is_whole = serializers.BooleanField(help_text="False if `body` is only the begin.")

    def get_deliveries(self, row: Mapping[str, Any]) -> int | None:
        """Return ``message_requests.deliveries_of``."""
        return message_requests.deliveries_of(row)


class MessagePageSerializer(serializers.Serializer[Any]):
    """A page of stored messages. `next` is the `after` of the next page, null on the last one."""

    items = MessageSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class MessagesView(TenantView):
    """The base class of views that begin an operation on the messages of one address.

    ``serializer`` describes the body of the request, which names the address.
    """

    serializer: type[AddressedSerializer]

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        """Begin the operation of this view, and return it. Each subclass implements this.

        ``values`` are the validated fields of ``serializer`` except ``address``.
        """
        raise NotImplementedError

    def answer(self, request: Request, space: str) -> Response:
        """Find the space and the address, check the body and ``begin``; answer 202.

        ``space`` is the name of the space.
        """
        row = queries.get_space(self.tenant, space)
        serializer = self.serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        # Taken out, because ``begin`` passes all other values on by name.
        address = queries.get_address(row, values.pop("address"))
        return accepted(self.begin(row, address, values), self.tenant)


class BrowseView(MessagesView):
    """Begins to read a page of stored messages (POST)."""

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
        """Begin to read a page of messages that a queue or subscription stores; none is consumed.

        When the operation has succeeded, get the page with its `subject_id`.
        """
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.browse(address=address, by=self.actor, **values)


class SendView(MessagesView):
    """Begins to send a test message (POST)."""

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
        """Begin to send a test message to a queue or topic.

        Sending it is not billed. Storing and receiving it is billed as for any other message.
        """
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.send(address=address, by=self.actor, **values)


class PurgeView(MessagesView):
    """Begins to delete all messages of an address (POST)."""

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
        """Begin to delete all messages that the queue or subscription holds now."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.purge(address=address, by=self.actor)


class DeleteView(MessagesView):
    """Begins to delete selected messages of an address (POST)."""

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
        """Begin to delete the selected messages. Those that are gone already are left out."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.delete(address=address, by=self.actor, **values)


class MoveView(MessagesView):
    """Begins to move messages to another queue (POST)."""

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
        """Begin to move selected or all messages of an address to a queue of the same space."""
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        # Of the same space: an operation moves no message out of it.
        to = queries.get_address(space, values.pop("to"))
        return message_requests.move(address=address, to=to, by=self.actor, **values)


class ResendView(MessagesView):
    """Begins to send dead letters back to where they came from (POST)."""

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
        """Begin to move selected or all messages back to the queues that they came from.

        Messages that came from no queue, or from one that is gone, stay.
        """
        return self.answer(request, space)

    def begin(self, space: AddressSpace, address: Address, values: dict[str, Any]) -> Operation:
        return message_requests.resend(address=address, by=self.actor, **values)


class MessagePageView(TenantView):
    """Shows the page that a browse operation has read (GET)."""

    needs = {"GET": Permission.READ_MESSAGES}

    @schema.describe("Get a page of messages", response=MessagePageSerializer)
    def get(self, request: Request, tenant: str, space: str, page: str) -> Response:
        """Return the page that a browse operation has read; `page` is its `subject_id`.

        The page is empty until the operation has succeeded. Some five minutes later it is deleted
        (404).
        """
        row = queries.get_message_request(queries.get_space(self.tenant, space), page)
        found = message_requests.page_of(row)
        # A stored page ends with an empty ``next``, a list of this API with null.
        items = MessageSerializer(found["messages"], many=True).data
        return Response({"items": items, "next": found["next"] or None})
