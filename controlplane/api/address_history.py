"""/tenants/{tenant}/address-spaces/{space}/addresses/{address}/history: an address over time."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.addresses import AddressView
from tenants import queries, reading_history


class AddressPointSerializer(serializers.Serializer[reading_history.Point]):
    """One step: the numbers of messages in it, and the other values at its end. Null: not known.

    The last step is still running, so its values are the newest ones.
    """

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
    """Shows the history of one address, and serves an address whose own name ends in ``/history``.

    The history of ``x`` and the address ``x/history`` have the same path. PUT, PATCH and DELETE
    always mean the address of that name. A GET means it only if it exists and the query has no
    ``span``.
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
        """Return the messages, depth, bytes and consumers of the address in each step up to now.

        If the space has an address whose name is this one with `/history`, send `span`: without it,
        the answer is that address.
        """
        space_row = queries.get_space(self.tenant, space)
        own_name = f"{address}/history"
        span = request.query_params.get("span", "")
        # The path fits both. Without ``span`` an address of this name comes first, because it has
        # no other path.
        if not span and queries.list_addresses(space_row).filter(address=own_name).exists():
            return super().get(request, tenant, space, own_name)
        row = queries.get_address(space_row, address)
        return Response(
            HistorySerializer(reading_history.read(row, span or "1h", timezone.now())).data
        )

    # Left out of the OpenAPI document: the path of an address describes these methods, and each
    # operation id is there once.
    @extend_schema(exclude=True)
    def put(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Create or change the address whose name is ``address`` with ``/history``."""
        return super().put(request, tenant, space, f"{address}/history")

    @extend_schema(exclude=True)
    def patch(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Replace the labels of the address whose name is ``address`` with ``/history``."""
        return super().patch(request, tenant, space, f"{address}/history")

    @extend_schema(exclude=True)
    def delete(self, request: Request, tenant: str, space: str, address: str) -> Response:
        """Delete the address whose name is ``address`` with ``/history``."""
        return super().delete(request, tenant, space, f"{address}/history")
