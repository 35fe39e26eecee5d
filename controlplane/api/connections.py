"""/tenants/{tenant}/address-spaces/{space}/connections: live connections of clients."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView, accepted
from tenants import queries
from tenants.actions import connections
from tenants.permissions import Permission


class ConnectionSerializer(serializers.Serializer[Any]):
    """One open connection of a client. What the engine does not report is empty or null."""

    id = serializers.CharField(source="name")
    instance = serializers.CharField(help_text="The broker or router that it is connected to.")
    user = serializers.CharField(source="messaging_user", help_text="Empty before the login ends.")
    client_id = serializers.CharField(source="container", help_text="Chosen by the client.")
    remote_address = serializers.CharField(source="remote_host")
    protocol = serializers.CharField()
    product = serializers.CharField(help_text="The client's own name and version.")
    tls = serializers.CharField(help_text="Version and cipher.")
    since = serializers.DateTimeField(source="opened_at", allow_null=True)
    sessions = serializers.IntegerField(allow_null=True)
    links = serializers.IntegerField(help_text="Open senders and receivers.")
    addresses = serializers.ListField(
        child=serializers.CharField(), help_text="Addresses of its links; at most 100."
    )
    sent = serializers.IntegerField(
        allow_null=True, help_text="Messages that the client has sent on its open links."
    )
    received = serializers.IntegerField(
        allow_null=True, help_text="Messages that the client has received on its open links."
    )


class InstanceConnectionsSerializer(serializers.Serializer[Any]):
    """How current and complete the list of one instance is."""

    instance = serializers.CharField()
    as_of = serializers.DateTimeField(help_text="When it was read from the instance.")
    total = serializers.IntegerField(help_text="All open connections of clients.")
    listed = serializers.IntegerField(help_text="Those that are in the list; at most 1,000.")


class ConnectionsPageSerializer(serializers.Serializer[Any]):
    """A page of connections, and of each instance the time and the total of its list."""

    items = ConnectionSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    instances = InstanceConnectionsSerializer(many=True)


class ConnectionsCloseSerializer(StrictSerializer):
    """Connections to close: either their ids, or all of one messaging user."""

    ids = serializers.ListField(
        child=serializers.CharField(max_length=160),
        required=False,
        default=list,
        max_length=connections.MOST_AT_ONCE,
    )
    user = serializers.CharField(max_length=63, required=False, default="", allow_blank=True)


class ConnectionsView(TenantView):
    """The connections of a space's clients."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "List connections",
        response=ConnectionsPageSerializer,
        parameters=[
            *schema.PAGE,
            schema.query("user", "Only connections of this messaging user."),
            schema.query("address", "Only connections with a link on this address."),
        ],
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the list that was read last, ordered by user. It is some seconds old."""
        row = queries.get_space(self.tenant, space)
        wanted = queries.ConnectionFilter(
            user=request.query_params.get("user", ""),
            address=request.query_params.get("address", ""),
        )
        page = pagination.page(
            request, queries.list_connections(row, wanted), "messaging_user", "name"
        )
        instances = InstanceConnectionsSerializer(queries.list_instance_connections(row), many=True)
        body = pagination.body(page, ConnectionSerializer)
        return Response({**body, "instances": instances.data})


class ConnectionsCloseView(TenantView):
    """Close connections of a space's clients."""

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
        """Close the connections. A client may connect again; revoke its user to keep it out."""
        row = queries.get_space(self.tenant, space)
        serializer = ConnectionsCloseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        operation = connections.close(space=row, by=self.actor, **serializer.validated_data)
        return accepted(operation, self.tenant)
