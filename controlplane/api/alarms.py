"""/address-spaces/{space}/alarms: rules that warn if an address reaches a threshold."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Filter, Kind
from controlplane.api.serializers import ChoiceOf, StrictSerializer
from controlplane.api.views import TenantView
from tenants import queries
from tenants.actions import alarms
from tenants.actions.alarms import Limits
from tenants.models import AddressSpace
from tenants.notifications import reads
from tenants.notifications.models import AddressAlarm
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={
        "created_at": ("created_at", "id"),
        "address": ("address__address", "id"),
        "threshold": ("threshold", "id"),
    },
    default="created_at",
    filters=(
        Filter("address", "Alarms of this address, by its name.", ("address__address",)),
        listing.choice("metric", "Alarms with this metric.", AddressAlarm.Metric.values),
        Filter("is_raised", "Whether the alarm is raised.", ("raised_at",), (), Kind.PRESENT),
    ),
)
_METRIC_HELP = "`depth` counts messages, `age` the seconds of the oldest message."


class LimitsSerializer(StrictSerializer):
    """The limits of an alarm. `clear_below` is 80 % of the threshold when it is absent or 0."""

    threshold = serializers.IntegerField()
    for_seconds = serializers.IntegerField(required=False, default=0)
    clear_below = serializers.IntegerField(required=False, default=0)


class AlarmCreateSerializer(LimitsSerializer):
    """An alarm to create for one address of the space."""

    address = serializers.CharField(max_length=255)
    metric = ChoiceOf(AddressAlarm.Metric.choices, help_text=_METRIC_HELP)


class AlarmSerializer(serializers.Serializer[Any]):
    """An alarm of an address. `raised_at` is null while it is not raised."""

    id = serializers.CharField()
    address = serializers.CharField(source="address.address")
    metric = ChoiceOf(AddressAlarm.Metric.choices, help_text=_METRIC_HELP)
    threshold = serializers.IntegerField()
    clear_below = serializers.IntegerField()
    for_seconds = serializers.IntegerField()
    raised_at = serializers.DateTimeField(allow_null=True)
    breached_since = serializers.DateTimeField(allow_null=True)
    last_value = serializers.IntegerField(
        allow_null=True, help_text="The value when the alarm was last evaluated."
    )
    generation = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class _SpaceView(TenantView):
    """The base of the views of a space's alarms."""

    def space(self, name: str) -> AddressSpace:
        """Return the space with this name in the caller's tenant."""
        return queries.get_space(self.tenant, name)


class AlarmsView(_SpaceView):
    """Lists the alarms of a space (GET) and creates one (POST)."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_ADDRESSES}

    @schema.describe(
        "List alarms",
        response=schema.page_of(AlarmSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return the alarms of the space's addresses."""
        page = _LISTING.page(request, reads.list_alarms(self.space(space)))
        return Response(pagination.body(page, AlarmSerializer))

    @schema.describe(
        "Create an alarm",
        request=AlarmCreateSerializer,
        response=AlarmSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Create an alarm, which the next sampling cycle evaluates.

        It is raised when the value has been `threshold` or more for `for_seconds`, and cleared when
        the value is less than `clear_below`.
        """
        serializer = AlarmCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        alarm = alarms.create(
            # Address and metric are taken out, so what is left are the limits.
            address=queries.get_address(self.space(space), values.pop("address")),
            metric=values.pop("metric"),
            limits=Limits(**values),
            by=self.actor,
        )
        return _answer(alarm, 201)


class AlarmView(_SpaceView):
    """Shows an alarm (GET), replaces its limits (PUT) and deletes it (DELETE)."""

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_ADDRESSES,
        "DELETE": Permission.MANAGE_ADDRESSES,
    }

    @schema.describe("Get an alarm", response=AlarmSerializer)
    def get(self, request: Request, tenant: str, space: str, alarm: str) -> Response:
        """Return the alarm with its state."""
        return _answer(reads.get_alarm(self.space(space), alarm))

    @schema.describe(
        "Replace the limits of an alarm",
        request=LimitsSerializer,
        response=AlarmSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str, space: str, alarm: str) -> Response:
        """Replace all limits. The next sampling cycle evaluates the alarm again."""
        serializer = LimitsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = reads.get_alarm(self.space(space), alarm)
        # Read without a lock. ``guarded_row`` compares the ETag with the row as it is under one.
        with etags.guarded_row(request, row):
            changed = alarms.update(
                alarm=row, limits=Limits(**serializer.validated_data), by=self.actor
            )
        return _answer(changed)

    @schema.describe("Delete an alarm", status=204, parameters=[schema.IF_MATCH])
    def delete(self, request: Request, tenant: str, space: str, alarm: str) -> Response:
        """Delete the alarm. If it is raised, the event `alarm.cleared` says that it is over."""
        row = reads.get_alarm(self.space(space), alarm)
        with etags.guarded_row(request, row):
            alarms.delete(alarm=row, by=self.actor)
        return Response(status=204)


def _answer(alarm: AddressAlarm, status: int = 200) -> Response:
    headers = etags.headers(alarm)
    return Response(AlarmSerializer(alarm).data, status=status, headers=headers)
