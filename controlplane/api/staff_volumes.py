"""/staff/kept-volumes: volumes of brokers that outlive the deletion of their space."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Kind
from controlplane.api.views import StaffView
from tenants.actions import kept_volumes
from tenants.models import KeptVolumes

_LISTING = listing.Listing(
    sorts={"created_at": ("id",), "space": ("space__name", "id")},
    default="created_at",
    filters=(
        listing.Filter("tenant_id", "Volumes of the tenant with this id.", ("space__tenant_id",)),
        listing.Filter(
            "is_waiting",
            "Whether nobody has released them.",
            ("released_at__isnull",),
            (),
            Kind.FLAG,
        ),
    ),
)


class KeptVolumesSerializer(serializers.Serializer[Any]):
    """The kept volumes of the brokers of one deleted space.

    `released_at` is when an operator, or the erasure of the tenant, released the volumes. `gone_at`
    is when a worker had deleted them. `deleted_at` is null while the deletion of the space still
    runs.
    """

    space_id = serializers.CharField()
    space = serializers.CharField(source="space.name")
    tenant_id = serializers.CharField(source="space.tenant_id")
    deleted_at = serializers.DateTimeField(source="space.deleted_at", allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    gone_at = serializers.DateTimeField(allow_null=True)


class KeptVolumesListView(StaffView):
    """Lists the kept volumes of all deleted spaces (GET)."""

    @schema.describe(
        "List kept volumes",
        response=schema.page_of(KeptVolumesSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return one item per space whose volumes were kept.

        Volumes that are released or deleted stay in the list.
        """
        page = _LISTING.page(request, KeptVolumes.objects.select_related("space"))
        return Response(pagination.body(page, KeptVolumesSerializer))


class ReleaseVolumesView(StaffView):
    """Releases the kept volumes of one deleted space (POST)."""

    @schema.describe(
        "Release kept volumes",
        response=KeptVolumesSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, space: str) -> Response:
        """Release the volumes of a deleted space: a worker deletes them with all messages in them.

        `space` is the id of the space, whose deletion must be complete. Releasing again changes
        nothing.
        """
        # Without an operation to poll: ``gone_at`` shows when the worker has deleted the volumes.
        kept = kept_volumes.release(space_id=space, by=self.actor)
        return Response(KeptVolumesSerializer(kept).data)
