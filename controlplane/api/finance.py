"""/staff: what an accounting system takes: journal, codes of accounts, deferred revenue."""

from datetime import date
from typing import Any

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.downloads import attached
from plans.export_kinds import FileFormat
from plans.exports import account_codes, deferred_revenue, journal, report_days, tables

_AFTER = OpenApiParameter(
    "after",
    {"type": "integer", "minimum": 0, "default": 0},
    description="Only postings with a larger id. Send the `last_posting_id` of the previous "
    "answer, or the largest `posting_id` of the previous file.",
)
MONTHS = [
    OpenApiParameter(name, str, description=f"Such as 2026-11; default: {default}.")
    for name, default in (
        ("first", "eleven months before the last one"),
        ("last", "the running month"),
    )
]


class JournalQuerySerializer(StrictSerializer):
    """The query parameter of the journal."""

    # The largest 64-bit id. A larger number would be an error of the database (500).
    after = serializers.IntegerField(min_value=0, max_value=2**63 - 1, default=0)


class JournalLineSerializer(serializers.Serializer[Any]):
    """One posting of the ledger: exactly one of `debit_minor` and `credit_minor` is above zero.

    `date` is the day of booking in UTC. `document_date` is the day that the invoice or credit note
    bears, or the day on which a payment was received; of everything else it is `date`.
    `account_code` is what the accounting system of the legal entity calls the account.
    """

    posting_id = serializers.IntegerField()
    entry_id = serializers.IntegerField()
    date = serializers.DateField(source="day")
    document_number = serializers.CharField(allow_blank=True)
    legal_entity = serializers.CharField(allow_blank=True)
    tenant_id = serializers.CharField()
    tenant = serializers.CharField()
    account_code = serializers.CharField()
    account = serializers.CharField()
    text = serializers.CharField()
    debit_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField()
    currency = serializers.CharField()
    reference = serializers.CharField()
    document_date = serializers.DateField(source="document_day")


class JournalSerializer(serializers.Serializer[Any]):
    """Lines in the order of their ids, whole entries only; empty if nothing is new."""

    items = JournalLineSerializer(many=True)
    last_posting_id = serializers.IntegerField(help_text="Send it as `after` the next time.")


class AccountCodesSerializer(StrictSerializer):
    """Codes by account, or by group: the part before the colon, such as `revenue`."""

    codes = serializers.DictField(child=serializers.CharField(max_length=40, allow_blank=True))


class DeferredMonthSerializer(serializers.Serializer[Any]):
    """One month of a legal entity and currency, in minor units.

    `deferred` (billed and not earned yet), `accrued` (earned and not billed yet) and `prepaid_owed`
    are those at the end of the month.
    """

    month = serializers.DateField()
    legal_entity = serializers.CharField(allow_blank=True)
    currency = serializers.CharField()
    billed = serializers.IntegerField()
    earned = serializers.IntegerField()
    deferred = serializers.IntegerField()
    accrued = serializers.IntegerField()
    prepaid_received = serializers.IntegerField()
    prepaid_used = serializers.IntegerField()
    prepaid_expired = serializers.IntegerField()
    prepaid_paid_back = serializers.IntegerField()
    prepaid_owed = serializers.IntegerField()


class DeferredRevenueSerializer(serializers.Serializer[Any]):
    """The months, and where the ledger and the documents disagree: normally nowhere."""

    items = DeferredMonthSerializer(many=True)
    disagreements = serializers.ListField(child=serializers.CharField())


class JournalView(StaffView):
    """Answers with journal lines that are new (GET)."""

    @schema.describe("Get the journal", response=JournalSerializer, parameters=[_AFTER])
    def get(self, request: Request) -> Response:
        """Return up to 10,000 journal lines after a posting, whole entries only.

        No later answer has a line below `last_posting_id`, so each line is imported once.
        """
        after = _after(request)
        lines = journal.lines(after=after)
        # If nothing is new, the client goes on from where it was.
        last = lines[-1].posting_id if lines else after
        return Response(
            {"items": JournalLineSerializer(lines, many=True).data, "last_posting_id": last}
        )


class JournalCsvView(StaffView):
    """Answers with journal lines that are new as CSV (GET)."""

    @schema.describe(
        "Get the journal as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=[_AFTER],
    )
    def get(self, request: Request) -> FileResponse:
        """Return all journal lines after a posting as a file; amounts are in the main unit."""
        # Read in parts while the file is written, so memory does not grow with the ledger.
        file = tables.write(journal.COLUMNS, journal.all_rows(_after(request)), FileFormat.CSV)
        return attached(file, f"journal-after-{_after(request)}.csv", "text/csv")


class DeferredRevenueView(StaffView):
    """Answers with billed, earned, deferred and prepaid amounts by month (GET)."""

    @schema.describe("Get deferred revenue", response=DeferredRevenueSerializer, parameters=MONTHS)
    def get(self, request: Request) -> Response:
        """Return the report by month, legal entity and currency, from postings of the ledger."""
        months = deferred_revenue.report(*months_of(request))
        return Response(
            {
                "items": DeferredMonthSerializer(months, many=True).data,
                "disagreements": deferred_revenue.disagreements(months),
            }
        )


class DeferredRevenueCsvView(StaffView):
    """Answers with the report of deferred revenue as CSV (GET)."""

    @schema.describe(
        "Get deferred revenue as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=MONTHS,
    )
    def get(self, request: Request) -> FileResponse:
        """Return the report as a file; amounts are in the main unit."""
        rows = (month.row() for month in deferred_revenue.report(*months_of(request)))
        file = tables.write(deferred_revenue.COLUMNS, rows, FileFormat.CSV)
        return attached(file, "deferred-revenue.csv", "text/csv")


class AccountCodesView(StaffView):
    """Shows (GET) and changes (POST) the codes of accounts of a legal entity."""

    @schema.describe("Get account codes", response=AccountCodesSerializer)
    def get(self, request: Request, legal_entity: str) -> Response:
        """Return the codes that were set for this legal entity; other accounts have their names."""
        return Response({"codes": account_codes.of_entity(legal_entity)})

    @schema.describe(
        "Change account codes",
        request=AccountCodesSerializer,
        response=AccountCodesSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, legal_entity: str) -> Response:
        """Set the codes in the request and keep all others; an empty code removes one.

        Lines that were exported already keep the code that they had.
        """
        serializer = AccountCodesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        codes = account_codes.change(
            legal_entity=legal_entity, codes=serializer.validated_data["codes"], by=self.actor
        )
        return Response({"codes": codes})


def months_of(request: Request) -> tuple[date, date]:
    """Return the first days of the months ``first`` and ``last`` of the query.

    Raises:
        Invalid: one of them is no month.
    """
    # Today in UTC, in which the report groups what was booked: it is about all tenants.
    query = request.query_params
    return report_days.months_of(query.get("first"), query.get("last"), timezone.now().date())


def _after(request: Request) -> int:
    serializer = JournalQuerySerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    return int(serializer.validated_data["after"])
