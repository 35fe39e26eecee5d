"""/tenants/{tenant}/address-spaces/{space}/connections: open connections of clients.

Workers read the list from the brokers and routers, and close the connections.
"""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView, accepted
from tenants import queries
from tenants.actions import connections
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={
        # The name too: it is unique within a space, the other columns are not.
        "user": ("messaging_user", "name"),
        "instance": ("instance", "name"),
        "links": ("links", "name"),
    },
    default="user",
    filters=(
        listing.Filter("instance", "Connections to this broker or router."),
        listing.search("Part of the client's id or network address.", "container", "remote_host"),
    ),
)


class ConnectionSerializer(serializers.Serializer[Any]):
    """One open connection of a client.

    What its broker or router does not report is empty or null.
    """

    id = serializers.CharField(source="name")
    instance = serializers.CharField(help_text="The broker or router that it is connected to.")
    user = serializers.CharField(source="messaging_user", help_text="Empty before the login ends.")
    client_id = serializers.CharField(source="container", help_text="Chosen by the client.")
    remote_address = serializers.CharField(source="remote_host")
    protocol = serializers.CharField()
    product = serializers.CharField(help_text="The client's own name and version.")
    tls = serializers.CharField(help_text="Version and cipher; `none` without encryption.")
    since = serializers.DateTimeField(source="opened_at", allow_null=True)
    sessions = serializers.IntegerField(allow_null=True)
    links = serializers.IntegerField(help_text="Open senders and receivers.")
    addresses = serializers.ListField(
        child=serializers.CharField(), help_text="Addresses of its links; at most 100."
    )
    sent = serializers.IntegerField(
        allow_null=True,
        help_text="Messages that the client has sent: to a broker since it connected, to a router "
        "on its open links.",
    )
    received = serializers.IntegerField(
        allow_null=True, help_text="Messages that the client has received, counted the same way."
    )
    sent_per_second = serializers.FloatField(
        allow_null=True,
        help_text="Between the last two readings. Null before the second one, and on a router if "
        "a link was closed between them.",
    )
    received_per_second = serializers.FloatField(allow_null=True, help_text="The same.")


class InstanceConnectionsSerializer(serializers.Serializer[Any]):
    """How current and how complete the list of connections of one broker or router is."""

    instance = serializers.CharField()
    as_of = serializers.DateTimeField(help_text="When it was read from the instance.")
    total = serializers.IntegerField(help_text="All open connections of clients.")
    listed = serializers.IntegerField(help_text="Those that are in the list; at most 1,000.")


class ConnectionsPageSerializer(serializers.Serializer[Any]):
    """A page of connections, and the time and total of the list of each broker and router."""

    items = ConnectionSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    instances = InstanceConnectionsSerializer(many=True)


class ConnectionsCloseSerializer(StrictSerializer):
    """Connections to close: either those with these ids, or all of one messaging user."""

    ids = serializers.ListField(
        child=serializers.CharField(max_length=160),
        required=False,
        default=list,
        max_length=connections.MOST_AT_ONCE,
    )
    user = serializers.CharField(max_length=63, required=False, default="", allow_blank=True)


class ConnectionsView(TenantView):
    """Lists the open connections of the clients of a space (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "List connections",
        response=ConnectionsPageSerializer,
        parameters=[
            *_LISTING.parameters,
            # Not filters of the list: an address is searched in the list of each row's links.
            schema.query("user", "Only connections of this messaging user."),
            schema.query("address", "Only connections with a link on this address."),
        ],
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the connections that were read last. They are some seconds old.

        At most 1,000 connections of each broker or router are listed.
        """
        row = queries.get_space(self.tenant, space)
        wanted = queries.ConnectionFilter(
            user=request.query_params.get("user", ""),
            address=request.query_params.get("address", ""),
        )
        page = _LISTING.page(request, queries.list_connections(row, wanted))
        # Of all instances, whatever the filters select: their totals count all connections.
        instances = InstanceConnectionsSerializer(queries.list_instance_connections(row), many=True)
        body = pagination.body(page, ConnectionSerializer)
        return Response({**body, "instances": instances.data})


class ConnectionsCloseView(TenantView):
    """Begins to close connections of clients of a space (POST)."""

    needs = {"POST": Permission.MANAGE_MESSAGING}

    @schema.describe(
        "Close connections",
        request=ConnectionsCloseSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to close the connections. Those that have ended already are left out.

        A client may connect again at once; revoke its messaging user to keep it out.
        """
        row = queries.get_space(self.tenant, space)
        serializer = ConnectionsCloseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        operation = connections.close(space=row, by=self.actor, **serializer.validated_data)
        return accepted(operation, self.tenant)
