"""/tenants/{tenant}/spend-cap: what a tenant wants to pay at most in a month, and a try of it."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import ChoiceOf, StrictSerializer
from controlplane.api.views import TenantView
from controlplane.core.errors import Missing
from plans.models import SpendCap
from plans.quotas import simulation
from plans.quotas.resources import AtQuota
from tenants.actions import spend_caps
from tenants.permissions import Permission

_ACTIONS = [action.value for action in AtQuota]


class SpendCapChangeSerializer(StrictSerializer):
    """A cap in minor units of the plan's currency, tax included, and what it does.

    The month's fee counts from its first day.
    """

    # The bounds of the action: what passes here is not refused there.
    amount_minor = serializers.IntegerField(min_value=1, max_value=spend_caps.LARGEST - 1)
    action = ChoiceOf(_ACTIONS)


class SpendCapSerializer(serializers.Serializer[Any]):
    """The cap. What the running month has cost so far is the resource `spend` of the quotas."""

    amount_minor = serializers.IntegerField()
    currency = serializers.CharField()
    action = serializers.ChoiceField(_ACTIONS)
    set_by = serializers.CharField()


class SimulatedDaySerializer(serializers.Serializer[Any]):
    """What the month had cost at the end of a day."""

    day = serializers.DateField()
    spent_minor = serializers.IntegerField()


class SimulationSerializer(serializers.Serializer[Any]):
    """What a cap would have done last month, on the present plan.

    `acted_at` is the end of the hour in which the cap was reached; null: it was not. `affected`
    maps meters to what was counted after that and would have been refused, or with `throttle`
    delayed.
    """

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    currency = serializers.CharField()
    amount_minor = serializers.IntegerField()
    action = serializers.ChoiceField(_ACTIONS)
    spent_minor = serializers.IntegerField()
    fee_minor = serializers.IntegerField(
        help_text="The month without spaces and usage, with tax. Not less than the cap: the cap "
        "acts on the first day of each month."
    )
    acted_at = serializers.DateTimeField(allow_null=True)
    affected = serializers.DictField(child=serializers.IntegerField())
    days = SimulatedDaySerializer(many=True)


class SpendCapView(TenantView):
    """Shows, sets and removes the tenant's spend cap (GET, PUT, DELETE)."""

    needs = {
        "GET": Permission.VIEW_BILLING,
        "PUT": Permission.MANAGE_BILLING,
        "DELETE": Permission.MANAGE_BILLING,
    }

    @schema.describe("Get the spend cap", response=SpendCapSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the cap; 404 without one."""
        shown = self._shown()
        if shown is None:
            raise Missing("The organization has no spend cap.", code="spend_cap.missing")
        return etags.tagged(shown)

    @schema.describe(
        "Set the spend cap",
        request=SpendCapChangeSerializer,
        response=SpendCapSerializer,
        parameters=[schema.IF_MATCH, schema.IF_NONE_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Set the cap, in place of an earlier one. A cap that is reached acts within a minute.

        Send `If-None-Match: *` to set the first cap, and `If-Match` with its ETag, or `*`, to
        replace one.
        """
        serializer = SpendCapChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        etags.change(
            request,
            self.tenant,
            self._shown,
            lambda: spend_caps.set_cap(tenant=self.tenant, by=self.actor, **values),
        )
        return etags.tagged(self._shown())

    @schema.describe("Remove the spend cap", status=204)
    def delete(self, request: Request, tenant: str) -> Response:
        """Remove the cap, and lift what it restricted. Without a cap, nothing changes."""
        spend_caps.clear_cap(tenant=self.tenant, by=self.actor)
        return Response(status=204)

    def _shown(self) -> Any:
        cap = SpendCap.objects.filter(tenant=self.tenant).first()
        return SpendCapSerializer(cap).data if cap else None


class SimulationView(TenantView):
    """Tries a spend cap on last month (POST)."""

    # It saves nothing: whoever may read the costs may try a cap on them.
    needs = {"POST": Permission.VIEW_BILLING}

    @schema.describe(
        "Simulate a spend cap",
        request=SpendCapChangeSerializer,
        response=SimulationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Return when the cap would have acted last month, and what it would have stopped.

        Nothing is saved. The month is priced on the present plan.
        """
        serializer = SpendCapChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        found = simulation.of_last_month(
            self.tenant, values["amount_minor"], values["action"], timezone.now()
        )
        body = {
            "starts_at": found.month.starts_at,
            "ends_at": found.month.ends_at,
            "currency": found.currency,
            "amount_minor": found.cap_minor,
            "action": found.action.value,
            "spent_minor": found.spent_minor,
            "fee_minor": found.fee_minor,
            "acted_at": found.acted_at,
            "affected": found.affected,
            "days": [{"day": day, "spent_minor": spent} for day, spent in found.days],
        }
        return Response(SimulationSerializer(body).data)
