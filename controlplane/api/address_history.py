"""/tenants/{tenant}/address-spaces/{space}/addresses/{address}/history: charts of one address."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.addresses import AddressView
from tenants import queries, reading_history


class AddressPointSerializer(serializers.Serializer[reading_history.Point]):
    """One step: messages in it, and the other values at its end. Null: not known."""

    at = serializers.DateTimeField(help_text="The start of the step.")
    messages_in = serializers.IntegerField()
    messages_out = serializers.IntegerField()
    depth = serializers.IntegerField(allow_null=True)
    stored_bytes = serializers.IntegerField(allow_null=True)
    consumers = serializers.IntegerField(allow_null=True)


class HistorySerializer(serializers.Serializer[reading_history.Series]):
    """The history of an address: one point for each step, oldest first."""

    step_seconds = serializers.IntegerField(source="step.seconds")
    points = AddressPointSerializer(many=True)


class AddressHistoryView(AddressView):
    """The history of one address; also the address whose own name ends in ``/history``.

    The server decodes the path, so both have the same one. A change always means the address. A GET
    means the address if it exists and the query has no ``span``.
    """

    @schema.describe(
        "Get the history of an address",
        response=HistorySerializer,
        parameters=[
            OpenApiParameter(
                "span",
                str,
                enum=list(reading_history.SPANS),
                default="1h",
                description="1h and 24h by minute, 7d and 30d by quarter of an hour.",
            )
        ],
    )
    def get(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Return messages, depth, bytes and consumers of each step up to now."""
        space_row = queries.get_space(self.tenant, space)
        own_name = f"{address}/history"
        span = request.query_params.get("span", "")
        if not span and queries.list_addresses(space_row).filter(address=own_name).exists():
            return super().get(request, tenant, space, own_name)
        row = queries.get_address(space_row, address)
        return Response(
            HistorySerializer(reading_history.read(row, span or "1h", timezone.now())).data
        )

    @extend_schema(exclude=True)
    def put(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Create or change the address whose name ends in ``/history``."""
        return super().put(request, tenant, space, f"{address}/history")

    @extend_schema(exclude=True)
    def delete(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Delete the address whose name ends in ``/history``."""
        return super().delete(request, tenant, space, f"{address}/history")
