"""/tenants/{tenant}/notification-deliveries: the log of what went to channels, and replays."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Filter, Kind
from controlplane.api.views import TenantView
from tenants.actions import notification_channels
from tenants.notifications import reads, subscriptions
from tenants.notifications.models import Delivery
from tenants.permissions import Permission

_MANAGE = Permission.MANAGE_NOTIFICATIONS
_LISTING = listing.Listing(
    sorts={"created_at": ("created_at", "id")},
    default="-created_at",
    filters=(
        Filter("channel", "Deliveries to this channel, by its id.", ("channel_id",)),
        Filter("event", "Deliveries of this event, by its id.", ("event_id",)),
        Filter("kind", "Deliveries of events of this kind.", ("event__kind",)),
        listing.choice("state", "Deliveries in this state.", Delivery.State.values),
        Filter("since", "From this instant on.", ("created_at__gte",), (), Kind.INSTANT),
        Filter("until", "Before this instant.", ("created_at__lt",), (), Kind.INSTANT),
    ),
)


class AttemptSerializer(serializers.Serializer[Any]):
    """One attempt: the HTTP status (null: no answer), its duration, and why it failed."""

    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True)
    duration_ms = serializers.IntegerField()
    response = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)


class DeliverySerializer(serializers.Serializer[Any]):
    """One event for one channel.

    `reason` says why the last attempt failed, or why the delivery ended without success.
    """

    id = serializers.CharField()
    event = serializers.CharField(source="event_id")
    kind = serializers.CharField(source="event.kind")
    channel = serializers.CharField(source="channel_id")
    state = serializers.ChoiceField(Delivery.State.choices)
    attempts = serializers.IntegerField()
    next_attempt_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class DeliveryDetailSerializer(DeliverySerializer):
    """A delivery with its attempts, oldest first, and the fields of its event."""

    fields_sent = serializers.JSONField(source="event.fields")
    log = serializers.SerializerMethodField()

    def get_log(self, delivery: Delivery) -> list[dict[str, Any]]:
        """Return the attempts."""
        # The id too: attempts may have the same time.
        return list(AttemptSerializer(delivery.log.order_by("at", "id"), many=True).data)


class DeliveriesView(TenantView):
    """Lists the deliveries to a tenant's channels (GET)."""

    needs = {"GET": _MANAGE}

    @schema.describe(
        "List notification deliveries",
        response=schema.page_of(DeliverySerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the deliveries of the last 30 days. Mails are not among them."""
        page = _LISTING.page(request, reads.list_deliveries(self.tenant))
        return Response(pagination.body(page, DeliverySerializer))


class DeliveryView(TenantView):
    """Shows one delivery with its attempts (GET)."""

    needs = {"GET": _MANAGE}

    @schema.describe("Get a notification delivery", response=DeliveryDetailSerializer)
    def get(self, request: Request, tenant: str, delivery: str) -> Response:
        """Return the delivery, each attempt, and the beginning of each answer.

        The caller needs the permission of the event's kind.
        """
        found = reads.get_delivery(self.tenant, delivery)
        # ``needs`` covers the log. The fields of this event need the permission of its kind too.
        subscriptions.require([found.event.kind], self.may)
        return Response(DeliveryDetailSerializer(found).data)


class ReplayView(TenantView):
    """Sends a delivery again (POST)."""

    needs = {"POST": _MANAGE}

    @schema.describe(
        "Replay a notification delivery",
        response=DeliverySerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, delivery: str) -> Response:
        """Send the event again, with the same `webhook-id` and a new series of attempts.

        The caller needs the permission of the event's kind.
        """
        found = reads.get_delivery(self.tenant, delivery)
        # A replay sends the fields once more, so it needs the same as reading them.
        subscriptions.require([found.event.kind], self.may)
        replayed = notification_channels.replay(delivery=found, by=self.actor)
        return Response(DeliverySerializer(replayed).data, status=202)
