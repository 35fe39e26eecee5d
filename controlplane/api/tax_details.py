"""What decides the tax of a tenant: certificates of exemption, and what is known of its tax id."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView, TenantView
from plans.invoicing import agreed_terms
from plans.models import TaxExemption, TaxIdCheck
from tenants import queries
from tenants.actions import tax_details
from tenants.actions.tax_details import Exemption
from tenants.models import Tenant
from tenants.permissions import Permission

_CHECKS = 50  # the newest


class TaxIdCheckSerializer(serializers.Serializer[Any]):
    """One check of the tax id: of its form alone or, if `is_confirmed`, by asking the register."""

    tax_id = serializers.CharField(allow_blank=True)
    country = serializers.CharField(allow_blank=True)
    status = serializers.CharField()
    checked_at = serializers.DateTimeField()
    is_confirmed = serializers.SerializerMethodField()
    reference = serializers.CharField(allow_blank=True)

    def get_is_confirmed(self, row: TaxIdCheck) -> bool:
        """Return whether staff asked the register."""
        return bool(row.confirmed_by)


class StaffTaxIdCheckSerializer(TaxIdCheckSerializer):
    """One check of the tax id, with the member of the staff who asked the register."""

    confirmed_by = serializers.CharField(allow_blank=True)


class ExemptionSerializer(serializers.Serializer[Any]):
    """A certificate by which the tenant pays no tax; `category` is E (exempt) or Z (zero rate).

    It counts for services completed from `starts_on` to `ends_on`, both included.
    """

    id = serializers.CharField()
    category = serializers.ChoiceField(TaxExemption.Category.choices)
    certificate = serializers.CharField()
    text = serializers.CharField()
    starts_on = serializers.DateField()
    ends_on = serializers.DateField(allow_null=True)


class ExemptionCreateSerializer(StrictSerializer):
    """A certificate of exemption. Invoices print `text` and the certificate's number."""

    category = serializers.ChoiceField(TaxExemption.Category.choices, default="E")
    certificate = serializers.CharField(max_length=60)
    text = serializers.CharField(max_length=300)
    starts_on = serializers.DateField()
    ends_on = serializers.DateField(allow_null=True, required=False, default=None)


class ExemptionEndSerializer(StrictSerializer):
    """The last day of a certificate, and why it ends.

    If `ends_on` is the day before its first day, the certificate never counts.
    """

    ends_on = serializers.DateField()
    reason = serializers.CharField(max_length=1000)


class RegisterAnswerSerializer(StrictSerializer):
    """What the register of VAT ids answered; `reference` identifies the answer."""

    is_registered = serializers.BooleanField()
    reference = serializers.CharField(max_length=120)


class TaxDetailsSerializer(serializers.Serializer[Any]):
    """Country, tax id and its status, the newest checks, and all certificates of a tenant."""

    country = serializers.CharField(allow_blank=True)
    tax_id = serializers.CharField(allow_blank=True)
    tax_id_status = serializers.CharField()
    checks = TaxIdCheckSerializer(many=True)
    exemptions = ExemptionSerializer(many=True)


class StaffTaxDetailsSerializer(TaxDetailsSerializer):
    """The tax details of a tenant, as staff see them."""

    checks = StaffTaxIdCheckSerializer(many=True)


class TaxDetailsView(TenantView):
    """Shows what decides the tax of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get tax details", response=TaxDetailsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return what is known of the tax id, and the certificates of exemption."""
        return Response(TaxDetailsSerializer(_details(self.tenant)).data)


class StaffTaxDetailsView(StaffView):
    """Shows what decides the tax of any tenant (GET)."""

    @schema.describe("Get tax details of a tenant", response=StaffTaxDetailsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return what is known of the tax id, and the certificates of exemption."""
        return Response(StaffTaxDetailsSerializer(_details(queries.get_tenant(tenant))).data)


class RegisterAnswerView(StaffView):
    """Records what the register of VAT ids answered (POST)."""

    @schema.describe(
        "Record an answer of the register",
        request=RegisterAnswerSerializer,
        response=StaffTaxIdCheckSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Record the answer. If the register does not know the id, later invoices charge VAT."""
        serializer = RegisterAnswerSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = tax_details.record_answer(
            tenant=queries.get_tenant(tenant), by=self.actor, **serializer.validated_data
        )
        return Response(StaffTaxIdCheckSerializer(row).data, status=201)


class ExemptionsView(StaffView):
    """Stores a certificate of exemption (POST)."""

    @schema.describe(
        "Set a tax exemption",
        request=ExemptionCreateSerializer,
        response=ExemptionSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Store the certificate. Invoices closed from now on apply it to services of its days."""
        serializer = ExemptionCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = tax_details.set_exemption(
            tenant=queries.get_tenant(tenant),
            wanted=Exemption(**serializer.validated_data),
            by=self.actor,
        )
        return Response(ExemptionSerializer(row).data, status=201)


class ExemptionEndView(StaffView):
    """Ends a certificate of exemption (POST)."""

    @schema.describe(
        "End a tax exemption",
        request=ExemptionEndSerializer,
        response=ExemptionSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, exemption: str) -> Response:
        """Let the certificate count for the last time on a day. Issued invoices do not change."""
        serializer = ExemptionEndSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = tax_details.end_exemption(
            tenant=queries.get_tenant(tenant),
            exemption_id=exemption,
            by=self.actor,
            **serializer.validated_data,
        )
        return Response(ExemptionSerializer(row).data)


def _details(tenant: Tenant) -> dict[str, Any]:
    return {
        "country": tenant.billing_country,
        "tax_id": tenant.tax_id,
        "tax_id_status": agreed_terms.tax_id_status(tenant).value,
        # By id, because the newest row is the one that counts.
        "checks": TaxIdCheck.objects.filter(tenant=tenant).order_by("-pk")[:_CHECKS],
        "exemptions": TaxExemption.objects.filter(tenant=tenant).order_by("starts_on", "pk"),
    }
