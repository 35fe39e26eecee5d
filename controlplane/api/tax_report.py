"""/staff: the tax report: VAT by country and rate, and customers under reverse charge."""

from typing import Any

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import finance, schema
from controlplane.api.views import StaffView
from controlplane.core.downloads import attached
from plans.export_kinds import FileFormat
from plans.exports import tables, tax_report


class RateSumSerializer(serializers.Serializer[Any]):
    """The taxes of a month (its first day, UTC) by the country of the buyer, category and rate.

    Amounts are in minor units. Invoices add, credit notes subtract. `category` is that of EN 16931,
    empty if the legal entity taxes at one flat rate. `percent` is a decimal. `oss` is true for
    sales to another country of the EU at the rate of that country. A document with several taxes
    counts in several rows.
    """

    month = serializers.DateField()
    legal_entity = serializers.CharField()
    currency = serializers.CharField()
    country = serializers.CharField(allow_blank=True)
    category = serializers.CharField(allow_blank=True)
    percent = serializers.CharField()
    oss = serializers.BooleanField(source="is_oss")
    n_documents = serializers.IntegerField()
    taxable_minor = serializers.IntegerField()
    tax_minor = serializers.IntegerField()


class ReverseChargeCustomerSerializer(serializers.Serializer[Any]):
    """What was charged under reverse charge to a VAT id in all months, in minor units.

    Country and name are those of the newest document.
    """

    legal_entity = serializers.CharField()
    currency = serializers.CharField()
    vat_id = serializers.CharField(allow_blank=True)
    country = serializers.CharField(allow_blank=True)
    name = serializers.CharField(allow_blank=True)
    n_documents = serializers.IntegerField()
    taxable_minor = serializers.IntegerField()


class TaxReportSerializer(serializers.Serializer[Any]):
    """The taxes of the months from `first` to `last`, which are first days of months.

    `disagreements` name each month whose tax in the ledger is another one: normally none.
    """

    first = serializers.DateField()
    last = serializers.DateField()
    items = RateSumSerializer(many=True, source="rates")
    reverse_charge = ReverseChargeCustomerSerializer(many=True, source="customers")
    disagreements = serializers.ListField(child=serializers.CharField())


class TaxReportView(StaffView):
    """Answers with VAT by country and rate, and with customers under reverse charge (GET)."""

    @schema.describe("Get the tax report", response=TaxReportSerializer, parameters=finance.MONTHS)
    def get(self, request: Request) -> Response:
        """Return the taxes of invoices and credit notes by month of issue, and reverse charge.

        The tax of each month, legal entity and currency is compared with the ledger.
        """
        return Response(TaxReportSerializer(tax_report.report(*finance.months_of(request))).data)


class TaxReportCsvView(StaffView):
    """Answers with VAT by country and rate as CSV (GET)."""

    @schema.describe(
        "Get the tax report as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=finance.MONTHS,
    )
    def get(self, request: Request) -> FileResponse:
        """Return VAT by country and rate as a file; amounts are in the main unit."""
        found = tax_report.report(*finance.months_of(request))
        rows = (one.row() for one in found.rates)
        file = tables.write(tax_report.COLUMNS, rows, FileFormat.CSV)
        return attached(file, "tax-report.csv", "text/csv")


class ReverseChargeCsvView(StaffView):
    """Answers with the customers under reverse charge as CSV (GET)."""

    @schema.describe(
        "Get reverse charge as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=finance.MONTHS,
    )
    def get(self, request: Request) -> FileResponse:
        """Return the sums of each VAT id as a file; amounts are in the main unit."""
        found = tax_report.report(*finance.months_of(request))
        file = tables.write(tax_report.CUSTOMER_COLUMNS, found.customer_rows(), FileFormat.CSV)
        return attached(file, "reverse-charge.csv", "text/csv")
