"""/tenants/{tenant}/notification-channels: webhooks, chats and pagers for events of a tenant."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Filter, Kind
from controlplane.api.serializers import ChoiceOf, StrictSerializer
from controlplane.api.views import TenantView
from tenants.actions import notification_channels
from tenants.actions.notification_channels import Target
from tenants.notifications import reads, subscriptions
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import REGISTRY
from tenants.notifications.models import Channel
from tenants.permissions import Permission

_MANAGE = Permission.MANAGE_NOTIFICATIONS
_LISTING = listing.Listing(
    sorts={"name": ("name",), "created_at": ("created_at", "id")},
    default="name",
    filters=(
        listing.choice("kind", "Channels of this kind.", Channel.Kind.values),
        Filter(
            # The column says since when it gets none; null: it is enabled.
            "enabled",
            "Whether the channel gets events.",
            ("disabled_at__isnull",),
            (),
            Kind.FLAG,
        ),
        listing.search("Part of the name.", "name"),
    ),
)


class NotificationKindSerializer(serializers.Serializer[Any]):
    """One kind of event. `roles` get it by mail unless the tenant or a member chose otherwise.

    `needs` is the permission without which nobody gets it, or has it sent to a channel.
    """

    key = serializers.CharField()
    title = serializers.CharField()
    meaning = serializers.CharField()
    severity = serializers.ChoiceField(["info", "warning", "critical"])
    needs = serializers.CharField()
    roles = serializers.SerializerMethodField()
    is_required = serializers.BooleanField()
    sample = serializers.JSONField(help_text="Example values of the fields that webhooks send.")

    def get_roles(self, kind: EventKind) -> list[str]:
        """Return the roles in a stable order."""
        return sorted(kind.roles)


class ChannelCreateSerializer(StrictSerializer):
    """A channel to create. An empty list of `kinds` means all of them.

    `url` is a https address for a webhook, and a URL of the form `slack://TokenA/TokenB/TokenC` for
    a chat.
    """

    name = serializers.CharField(max_length=100)
    kind = ChoiceOf(Channel.Kind.choices)
    url = serializers.CharField(max_length=2000)
    kinds = serializers.ListField(child=serializers.CharField(), required=False, default=list)


class ChannelUpdateSerializer(StrictSerializer):
    """What to change of a channel; absent fields stay."""

    name = serializers.CharField(max_length=100, required=False)
    url = serializers.CharField(max_length=2000, required=False)
    kinds = serializers.ListField(child=serializers.CharField(), required=False)
    enabled = serializers.BooleanField(required=False)


class ChannelSerializer(serializers.Serializer[Any]):
    """A channel. `target` is the part of its URL that may be shown; URL and secret never are."""

    id = serializers.CharField()
    name = serializers.CharField()
    kind = ChoiceOf(Channel.Kind.choices)
    target = serializers.CharField(source="label")
    kinds = serializers.ListField(child=serializers.CharField())
    enabled = serializers.SerializerMethodField()
    disabled_reason = serializers.CharField(allow_blank=True)
    failing_since = serializers.DateTimeField(allow_null=True)
    former_secret_until = serializers.DateTimeField(allow_null=True)
    generation = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    def get_enabled(self, channel: Channel) -> bool:
        """Return whether the channel gets events."""
        return channel.disabled_at is None


class NewChannelSerializer(ChannelSerializer):
    """A channel with the secret that signs its webhooks. Only this answer shows it.

    `secret` is null in the answer to a request that is repeated with its Idempotency-Key.
    """

    secret = serializers.CharField(
        allow_blank=True, allow_null=True, help_text="Empty for a chat, which signs nothing."
    )


class NotificationKindsView(TenantView):
    """Lists the kinds of events (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("List notification kinds", response=schema.page_of(NotificationKindSerializer))
    def get(self, request: Request, tenant: str) -> Response:
        """Return all kinds of events with their texts and default receivers, on one page."""
        # The registry of this version: a list that needs no pages.
        kinds: Any = NotificationKindSerializer(REGISTRY, many=True).data
        return Response(pagination.whole(kinds))


class ChannelsView(TenantView):
    """Lists the channels of a tenant (GET) and creates one (POST)."""

    needs = {"GET": _MANAGE, "POST": _MANAGE}

    @schema.describe(
        "List notification channels",
        response=schema.page_of(ChannelSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the channels of the tenant."""
        page = _LISTING.page(request, reads.list_channels(self.tenant))
        return Response(pagination.body(page, ChannelSerializer))

    @schema.describe(
        "Create a notification channel",
        request=ChannelCreateSerializer,
        response=NewChannelSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Create a channel. Only this answer has the secret that signs a webhook.

        A webhook must be at a public https address. Waypost follows no redirects. The caller needs
        the permission that each kind names in `needs`; an empty list of kinds needs all of them.
        """
        serializer = ChannelCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # ``needs`` covers channels, not what their events say: a token that may only manage
        # channels must not send itself the invoices.
        subscriptions.require_new(values["kinds"], self.may)
        channel, secret = notification_channels.create(
            tenant=self.tenant,
            name=values["name"],
            target=Target(values["kind"], values["url"]),
            kinds=values["kinds"],
            by=self.actor,
        )
        return _with_secret(channel, secret, 201)


class ChannelView(TenantView):
    """Shows a channel (GET), changes it (PATCH) and deletes it (DELETE)."""

    needs = {"GET": _MANAGE, "PATCH": _MANAGE, "DELETE": _MANAGE}
    ends_access = frozenset({"DELETE"})

    @schema.describe("Get a notification channel", response=ChannelSerializer)
    def get(self, request: Request, tenant: str, channel: str) -> Response:
        """Return the channel."""
        row = reads.get_channel(self.tenant, channel)
        return Response(ChannelSerializer(row).data, headers=etags.headers(row))

    @schema.describe(
        "Change a notification channel",
        request=ChannelUpdateSerializer,
        response=ChannelSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def patch(self, request: Request, tenant: str, channel: str) -> Response:
        """Change the fields that are sent. Enabling a channel forgets its earlier failures.

        New kinds need the permission that each names in `needs`, and a new URL those of all kinds
        of the channel.
        """
        serializer = ChannelUpdateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        row = reads.get_channel(self.tenant, channel)
        with etags.guarded_row(request, row), notification_channels.held(row) as current:
            subscriptions.require_changed(current, values.get("kinds"), values.get("url"), self.may)
            changed = notification_channels.update(channel=current, by=self.actor, **values)
        return Response(ChannelSerializer(changed).data, headers=etags.headers(changed))

    @schema.describe("Delete a notification channel", status=204, parameters=[schema.IF_MATCH])
    def delete(self, request: Request, tenant: str, channel: str) -> Response:
        """Delete the channel with its log of deliveries."""
        row = reads.get_channel(self.tenant, channel)
        with etags.guarded_row(request, row):
            notification_channels.delete(channel=row, by=self.actor)
        return Response(status=204)


class ChannelTestView(TenantView):
    """Sends a test event to one channel (POST)."""

    needs = {"POST": _MANAGE}

    @schema.describe("Test a notification channel", status=204, parameters=[schema.IDEMPOTENCY_KEY])
    @idempotent
    def post(self, request: Request, tenant: str, channel: str) -> Response:
        """Send an event of the kind `channel.test` to this channel alone.

        The log of deliveries shows what came of it.
        """
        notification_channels.test(channel=reads.get_channel(self.tenant, channel), by=self.actor)
        return Response(status=204)


class ChannelSecretView(TenantView):
    """Gives a webhook a new secret (POST)."""

    needs = {"POST": _MANAGE}

    @schema.describe(
        "Rotate the secret of a notification channel",
        response=NewChannelSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, channel: str) -> Response:
        """Return a new secret. For 24 hours each webhook has two signatures, one by each secret."""
        row, secret = notification_channels.rotate_secret(
            channel=reads.get_channel(self.tenant, channel), by=self.actor
        )
        return _with_secret(row, secret, 200)


def _with_secret(channel: Channel, secret: str, status: int) -> Response:
    # The row has the secret encrypted only, so no later answer can show it.
    body = {**ChannelSerializer(channel).data, "secret": secret}
    return Response(body, status=status, headers=etags.headers(channel))
