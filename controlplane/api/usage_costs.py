"""/tenants/{tenant}/usage/costs: what a month costs, by space or by a label of spaces."""

import re
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.views import TenantView
from controlplane.core.errors import Invalid
from plans.invoicing import month_costs
from plans.rating import periods
from plans.rating.periods import Period
from tenants import label_rules
from tenants.permissions import Permission

_MONTH = re.compile(r"2\d{3}-(0[1-9]|1[0-2])")  # such as 2026-11


class CostSerializer(serializers.Serializer[Any]):
    """The net amount of one cause; what no space caused is `shared`, such as the plan's fee."""

    cause = serializers.ChoiceField([cause.value for cause in month_costs.Cause])
    name = serializers.CharField(
        help_text="The space's name, or the label with its value, such as `team=shop`."
    )
    amount_minor = serializers.IntegerField()


class CostsSerializer(serializers.Serializer[Any]):
    """The costs of a month before tax: all amounts together are `net_minor`.

    Without anything priced, `currency` is null and `items` is empty. `is_running`: the month is not
    over, and the costs are those known so far.
    """

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    is_running = serializers.BooleanField()
    currency = serializers.CharField(allow_null=True)
    divided_by = serializers.CharField(
        allow_blank=True, help_text="The label that divides the costs; empty: by space."
    )
    labels = serializers.ListField(
        child=serializers.CharField(), help_text="The keys of the labels that spaces have."
    )
    net_minor = serializers.IntegerField()
    items = CostSerializer(many=True)


class UsageCostsView(TenantView):
    """Answers with the costs of a month of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Get costs",
        response=CostsSerializer,
        parameters=[
            OpenApiParameter(
                "month", str, description="Such as 2026-11; default: the running month."
            ),
            OpenApiParameter(
                "label", str, description="The key of a label, such as `team`; default: by space."
            ),
        ],
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return what the month costs before tax, by space or by the values of a label.

        A label that no space has divides by space. Months begin in the billing time zone.
        """
        now = timezone.now()
        zone = self.tenant.billing_time_zone
        month = month_named(request.query_params.get("month", ""), zone, now)
        key = request.query_params.get("label", "")
        if key:
            # Refuses what is no key of a label; a label may have an empty value.
            label_rules.check({key: ""})
        costs = month_costs.of_month(self.tenant, month, key, now)
        return Response(
            {
                "starts_at": month.starts_at,
                "ends_at": month.ends_at,
                "is_running": month.starts_at <= now < month.ends_at,
                "currency": costs.currency if costs else None,
                "divided_by": costs.key if costs else "",
                "labels": costs.keys if costs else [],
                "net_minor": costs.net_minor if costs else 0,
                "items": [row._asdict() for row in costs.rows] if costs else [],
            }
        )


def month_named(text: str, zone: str, now: datetime) -> Period:
    """Return the month ``text``, such as ``2026-11``, in the IANA time zone ``zone``.

    '' means the month of ``now``.

    Raises:
        Invalid: ``text`` is no month.
    """
    if not text:
        return periods.month_of(now, zone)
    if not _MONTH.fullmatch(text):
        raise Invalid(
            "month: not a month such as 2026-11.",
            code="request.invalid",
            month=["A month such as 2026-11."],
        )
    first = date.fromisoformat(f"{text}-01")
    # Noon: a change of the clock can skip or repeat midnight.
    noon = datetime(first.year, first.month, 1, 12, tzinfo=ZoneInfo(zone))
    return periods.month_of(noon, zone)
