"""/tenants/{tenant}/notification-deliveries: the log of what went to channels, and replays."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import ChoiceOf, StrictSerializer
from controlplane.api.views import TenantView
from tenants.actions import notification_channels
from tenants.notifications import reads
from tenants.notifications.models import Delivery
from tenants.permissions import Permission

_MANAGE = Permission.MANAGE_NOTIFICATIONS


class AttemptSerializer(serializers.Serializer[Any]):
    """One attempt: the HTTP status (null: no answer), its duration, and why it failed."""

    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True)
    duration_ms = serializers.IntegerField()
    response = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)


class DeliverySerializer(serializers.Serializer[Any]):
    """One event for one channel. `reason` says why it ended without success."""

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
        return list(AttemptSerializer(delivery.log.order_by("at", "id"), many=True).data)


class DeliveryFilterSerializer(StrictSerializer):
    """What selects deliveries."""

    channel = serializers.CharField(required=False, default="", max_length=40)
    state = ChoiceOf(Delivery.State.choices, required=False, default="")
    limit = serializers.CharField(required=False)
    cursor = serializers.CharField(required=False, allow_blank=True)


class DeliveriesView(TenantView):
    """Lists the deliveries to a tenant's channels (GET)."""

    needs = {"GET": _MANAGE}

    @schema.describe(
        "List notification deliveries",
        response=schema.page_of(DeliverySerializer),
        parameters=[
            *schema.PAGE,
            OpenApiParameter("channel", str, description="Only those of one channel, by its id."),
            OpenApiParameter("state", str, enum=Delivery.State.values),
        ],
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the deliveries of the last 30 days, newest first. Mails are not among them."""
        serializer = DeliveryFilterSerializer(data=request.query_params.dict())
        serializer.is_valid(raise_exception=True)
        rows = reads.list_deliveries(
            self.tenant,
            channel=serializer.validated_data["channel"],
            state=serializer.validated_data["state"],
        )
        page = pagination.page(request, rows, "created_at", "id", descending=True)
        return Response(pagination.body(page, DeliverySerializer))


class DeliveryView(TenantView):
    """Shows one delivery with its attempts (GET)."""

    needs = {"GET": _MANAGE}

    @schema.describe("Get a notification delivery", response=DeliveryDetailSerializer)
    def get(self, request: Request, tenant: str, delivery: str) -> Response:
        """Return the delivery, each attempt, and the beginning of each answer."""
        found = reads.get_delivery(self.tenant, delivery)
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
        """Send the event again, with the same `webhook-id`, and retry it as at first."""
        found = reads.get_delivery(self.tenant, delivery)
        replayed = notification_channels.replay(delivery=found, by=self.actor)
        return Response(DeliverySerializer(replayed).data, status=202)
