"""/tenants/{tenant}/maintenance-windows: when rollouts may restart instances of the tenant."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import TenantView
from tenants.actions import rollouts
from tenants.permissions import Permission
from tenants.rollouts import Window


# Not OpenAPI's format "time", which has seconds and an offset.
@extend_schema_field({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"})
class MinuteField(serializers.TimeField):
    """A time of day in UTC to the minute, such as ``22:00``."""


class WindowSerializer(StrictSerializer):
    """A weekly window in UTC. Weekday 0 is Monday. The window lasts `minutes`.

    It may end on a later day.
    """

    weekday = serializers.IntegerField(min_value=0, max_value=6)
    starts_at = MinuteField(format="%H:%M", input_formats=["%H:%M"])
    # 10,080 minutes are a week: such a window is always open.
    minutes = serializers.IntegerField(min_value=30, max_value=10080)


class WindowsSerializer(StrictSerializer):
    """All maintenance windows of a tenant. An empty list allows restarts at any time."""

    windows = WindowSerializer(many=True)


class WindowsView(TenantView):
    """Shows the maintenance windows of a tenant (GET) and replaces them (PUT)."""

    needs = {"GET": Permission.VIEW, "PUT": Permission.MANAGE_MESSAGING}

    @schema.describe("Get maintenance windows", response=WindowsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the windows, by weekday and time.

        Rollouts restart ready spaces only in these windows; without any window, at any time.
        """
        return etags.tagged(self._shown())

    @schema.describe(
        "Replace maintenance windows",
        request=WindowsSerializer,
        response=WindowsSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Replace all windows. An empty list allows restarts at any time.

        At most 28 windows; no two begin at the same time.
        """
        serializer = WindowsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        windows = [Window(**fields) for fields in serializer.validated_data["windows"]]
        etags.change(
            request,
            self.tenant,
            self._shown,
            lambda: rollouts.set_windows(tenant=self.tenant, windows=windows, by=self.actor),
        )
        return etags.tagged(self._shown())

    def _shown(self) -> Any:
        rows: Any = self.tenant.maintenance_windows.order_by("weekday", "starts_at")
        return {"windows": WindowSerializer(rows, many=True).data}
