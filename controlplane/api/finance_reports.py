"""/staff: reports of finance: aged receivables, and the periods of a month without an invoice."""

from datetime import date
from typing import Any

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.instants import InstantField
from controlplane.api.invoices import HeldReasonSerializer
from controlplane.api.views import StaffView
from controlplane.core.downloads import attached
from plans.export_kinds import FileFormat
from plans.exports import aged_receivables, periods_without_invoice, report_days, tables
from plans.exports.aged_receivables import BUCKETS, Group
from plans.exports.periods_without_invoice import MonthReport
from tenants import queries

_AS_OF = schema.query("as_of", "The day (UTC), such as 2026-11-30; default: today, as it is now.")
_MONTH = schema.query("month", "Such as 2026-11; default: the last month that has ended (UTC).")


class AmountsSerializer(serializers.Serializer[Any]):
    """What is due, in minor units, by the days since the day by which to pay.

    `not_due_minor` is due, and this day is not over. `overdue_minor` is the sum of the four other
    ages, and `total_minor` the sum of all five.
    """

    not_due_minor = serializers.IntegerField(source="not_due")
    days_1_to_30_minor = serializers.IntegerField(source="days_1_to_30")
    days_31_to_60_minor = serializers.IntegerField(source="days_31_to_60")
    days_61_to_90_minor = serializers.IntegerField(source="days_61_to_90")
    days_over_90_minor = serializers.IntegerField(source="days_over_90")
    overdue_minor = serializers.IntegerField(source="overdue")
    total_minor = serializers.IntegerField(source="total")


class DebtSerializer(AmountsSerializer):
    """What all tenants together owe to a legal entity in a currency, by age."""

    legal_entity = serializers.CharField()
    currency = serializers.CharField()


class TenantDebtSerializer(DebtSerializer):
    """What a tenant owes to a legal entity in a currency, by age; `tenant` is the slug."""

    tenant = serializers.CharField(source="tenant.slug")
    tenant_name = serializers.CharField(source="tenant.name")


class AgedReceivablesSerializer(serializers.Serializer[Any]):
    """The debts of a day (UTC), and their sums by legal entity and currency.

    Of each legal entity and currency, the tenant with the largest overdue amount comes first.
    """

    as_of = serializers.DateField()
    items = TenantDebtSerializer(many=True)
    sums = DebtSerializer(many=True)


class OpenItemSerializer(serializers.Serializer[Any]):
    """What is due of an invoice on the day, in minor units of `currency`.

    `days_overdue` counts from `due_on`; 0 or less: that day is not over.
    """

    invoice = serializers.CharField(source="invoice.pk")
    number = serializers.CharField(source="invoice.number")
    legal_entity = serializers.CharField(source="invoice.legal_entity")
    currency = serializers.CharField(source="invoice.currency")
    issued_at = InstantField(source="invoice.issued_at")
    due_on = serializers.DateField(source="invoice.due_on")
    days_overdue = serializers.IntegerField()
    bucket = serializers.ChoiceField(choices=BUCKETS)
    due_minor = serializers.IntegerField()


class OpenItemsSerializer(serializers.Serializer[Any]):
    """The invoices of which something is due on the day (UTC), the oldest debt first."""

    as_of = serializers.DateField()
    items = OpenItemSerializer(many=True)


class PeriodWithoutInvoiceSerializer(serializers.Serializer[Any]):
    """A period in which a tenant had a plan, and that has no issued invoice; `tenant` is the slug.

    `invoice` is the id of the invoice that is not issued yet; null if there is none. Then `state`
    is `running` before the period ends, `in_grace` before `due_at`, `due` from then on, and
    `skipped` if a close run could not close the period. Otherwise it is the state of the invoice.
    """

    tenant = serializers.CharField(source="tenant.slug")
    tenant_name = serializers.CharField(source="tenant.name")
    starts_at = InstantField(source="period.starts_at")
    ends_at = InstantField(source="period.ends_at")
    due_at = InstantField()
    state = serializers.ChoiceField(choices=list(periods_without_invoice.NEXT_STEPS))
    invoice = serializers.CharField(source="invoice_id", allow_null=True)
    reasons = HeldReasonSerializer(many=True)
    next_step = serializers.CharField()


class PeriodsWithoutInvoiceSerializer(serializers.Serializer[Any]):
    """The periods of the month (its first day) that have no issued invoice.

    `is_complete` is true if there is none. `n_issued` is how many invoices of the month are issued.
    """

    month = serializers.DateField()
    is_complete = serializers.BooleanField()
    n_issued = serializers.IntegerField()
    items = PeriodWithoutInvoiceSerializer(many=True, source="missing")


class AgedReceivablesView(StaffView):
    """Answers with what tenants owe, by the age of the debt (GET)."""

    @schema.describe(
        "Get aged receivables", response=AgedReceivablesSerializer, parameters=[_AS_OF]
    )
    def get(self, request: Request) -> Response:
        """Return what each tenant owed on a day, by legal entity, currency and days overdue.

        The sums are the balances of `receivable` in the ledger at the end of the day (UTC).
        """
        day, groups = _receivables(request)
        found = {
            "as_of": day,
            "items": [debt for group in groups for debt in group.debts],
            "sums": [group.sums for group in groups],
        }
        return Response(AgedReceivablesSerializer(found).data)


class AgedReceivablesCsvView(StaffView):
    """Answers with what tenants owe, by the age of the debt, as CSV (GET)."""

    @schema.describe(
        "Get aged receivables as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=[_AS_OF],
    )
    def get(self, request: Request) -> FileResponse:
        """Return the tenants of the report as a file; amounts are in the main unit."""
        rows = aged_receivables.rows(*_receivables(request))
        file = tables.write(aged_receivables.COLUMNS, rows, FileFormat.CSV)
        return attached(file, "aged-receivables.csv", "text/csv")


class OpenItemsView(StaffView):
    """Answers with the unpaid invoices of a tenant (GET)."""

    @schema.describe(
        "List open items of a tenant", response=OpenItemsSerializer, parameters=[_AS_OF]
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the invoices that the tenant owed on a day (UTC), the oldest debt first."""
        now = timezone.now()
        day = report_days.day_named(request.query_params.get("as_of"), now)
        items = aged_receivables.open_items(day, now, queries.get_tenant(tenant))
        return Response(OpenItemsSerializer({"as_of": day, "items": items}).data)


class PeriodsWithoutInvoiceView(StaffView):
    """Answers with the periods of a month that have no issued invoice (GET)."""

    @schema.describe(
        "List periods without an invoice",
        response=PeriodsWithoutInvoiceSerializer,
        parameters=[_MONTH],
    )
    def get(self, request: Request) -> Response:
        """Return the periods of an ended month in which a tenant had a plan, without an invoice.

        Periods whose invoice is not issued are in it. `next_step` says what to do.
        """
        return Response(PeriodsWithoutInvoiceSerializer(_periods(request)).data)


class PeriodsWithoutInvoiceCsvView(StaffView):
    """Answers with the periods of a month that have no issued invoice as CSV (GET)."""

    @schema.describe(
        "Get periods without an invoice as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=[_MONTH],
    )
    def get(self, request: Request) -> FileResponse:
        """Return the periods as a file; one with no line but the first says: nothing is missing."""
        rows = _periods(request).rows()
        file = tables.write(periods_without_invoice.COLUMNS, rows, FileFormat.CSV)
        return attached(file, "periods-without-invoice.csv", "text/csv")


def _receivables(request: Request) -> tuple[date, list[Group]]:
    now = timezone.now()
    day = report_days.day_named(request.query_params.get("as_of"), now)
    return day, aged_receivables.report(day, now)


def _periods(request: Request) -> MonthReport:
    now = timezone.now()
    month = report_days.ended_month(request.query_params.get("month"), now)
    return periods_without_invoice.report(month, now)
