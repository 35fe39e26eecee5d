"""Discounts, coupons, commitments, the trial and credit, as a tenant reads and redeems them.

Staff give and end them in ``staff_benefits``.
"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import TenantView
from plans.invoicing import agreed_terms, agreements, discounting, pinned_sellers
from plans.ledger import grants, movements
from plans.models import Commitment, CreditGrant, Discount
from tenants.models import Tenant
from tenants.permissions import Permission

MOVEMENTS = listing.Listing(sorts={"booked": ("id",)}, default="-booked")


class RedeemSerializer(StrictSerializer):
    """The code of a coupon."""

    code = serializers.CharField(max_length=40)


class DiscountSerializer(serializers.Serializer[Any]):
    """A discount of a tenant. It counts for each billing month that its time overlaps."""

    id = serializers.CharField()
    title = serializers.CharField()
    coupon = serializers.CharField(source="coupon.code", allow_null=True, default=None)
    percent = serializers.DecimalField(max_digits=15, decimal_places=12, allow_null=True)
    amount_minor = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    meters = serializers.ListField(child=serializers.CharField())
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class CommitmentSerializer(serializers.Serializer[Any]):
    """A minimum commitment of a tenant, in minor units of `currency` a month."""

    id = serializers.CharField()
    title = serializers.CharField()
    minimum_minor = serializers.IntegerField()
    currency = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class CreditSerializer(serializers.Serializer[Any]):
    """Granted credit of a tenant; `left_minor` of it is not used yet."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(CreditGrant.Kind.choices)
    amount_minor = serializers.IntegerField()
    left_minor = serializers.IntegerField()
    currency = serializers.CharField()
    reference = serializers.CharField()
    granted_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)


class BalanceSerializer(serializers.Serializer[Any]):
    """Credit with one legal entity in one currency; amounts are in minor units.

    `available_minor` is everything that could pay an invoice now. `invoices_minor` of it comes from
    invoices and credit notes and never expires.
    """

    legal_entity = serializers.CharField()
    currency = serializers.CharField()
    invoices_minor = serializers.IntegerField()
    prepaid_minor = serializers.IntegerField()
    promotional_minor = serializers.IntegerField()
    available_minor = serializers.IntegerField()


class CommitmentProgressSerializer(serializers.Serializer[Any]):
    """How far the running month is toward the minimum of all commitments together, before tax.

    `reached_minor` is what the month has cost so far, after discounts. `charged_minor` is what
    earlier invoices of the month charged up to the minimum. `missing_minor` is what the last
    invoice of the month adds if nothing more is used; negative: what it takes back.
    """

    month_starts_at = serializers.DateTimeField(source="month.starts_at")
    month_ends_at = serializers.DateTimeField(source="month.ends_at")
    currency = serializers.CharField()
    minimum_minor = serializers.IntegerField()
    reached_minor = serializers.IntegerField()
    charged_minor = serializers.IntegerField()
    missing_minor = serializers.IntegerField()
    percent = serializers.IntegerField()


class TrialSerializer(serializers.Serializer[Any]):
    """A running trial. From `ends_at` on the fee of the plan is charged, by seconds.

    `first_fee_minor` is the fee of the rest of the month in which it ends, before tax.
    """

    plan = serializers.CharField()
    currency = serializers.CharField()
    ends_at = serializers.DateTimeField()
    days_left = serializers.IntegerField()
    monthly_fee_minor = serializers.IntegerField()
    first_fee_minor = serializers.IntegerField()


class MovementSerializer(serializers.Serializer[Any]):
    """What one entry of the ledger changed of a tenant's credit, in minor units.

    `after_minor` is the credit of this legal entity and currency after it. Expired credit is part
    of it until its end is booked.
    """

    booked_at = serializers.DateTimeField(source="entry.booked_at")
    text = serializers.CharField(source="entry.text")
    kind = serializers.ChoiceField(movements.KINDS)
    legal_entity = serializers.CharField(source="owner")
    currency = serializers.CharField(source="entry.currency")
    change_minor = serializers.IntegerField()
    after_minor = serializers.IntegerField()


MOVEMENT_PAGE = schema.page_of(MovementSerializer)  # one class, which two operations answer


class BenefitsSerializer(serializers.Serializer[Any]):
    """What changes the price of a tenant besides its plan.

    `tax_id_status` is what is known of its tax id: `valid` (in form), `invalid`, `other_country`
    (not that of the billing country), `refused` (the register does not know it), `not_checked`
    (outside the EU) or `none`.
    """

    tax_id_status = serializers.CharField()
    balances = BalanceSerializer(many=True)
    trial = TrialSerializer(allow_null=True)
    progress = CommitmentProgressSerializer(allow_null=True)
    discounts = DiscountSerializer(many=True)
    commitments = CommitmentSerializer(many=True)
    credits = CreditSerializer(many=True)


class BenefitsView(TenantView):
    """Shows discounts, commitments and credit of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get discounts and credit", response=BenefitsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the credit, discounts and commitments, ended ones too, and the running trial."""
        return Response(benefits_of(self.tenant))


class MovementsView(TenantView):
    """Lists what happened to the credit of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List credit movements",
        response=MOVEMENT_PAGE,
        parameters=MOVEMENTS.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return each grant, use and end of credit, the newest first."""
        page = MOVEMENTS.page(request, movements.of_tenant(self.tenant.pk))
        return Response(pagination.body(page, MovementSerializer))


class RedeemView(TenantView):
    """Redeems a coupon for a tenant (POST)."""

    needs = {"POST": Permission.MANAGE_BILLING}

    @schema.describe(
        "Redeem a coupon",
        request=RedeemSerializer,
        response=DiscountSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Redeem a coupon once: its discount begins with the running billing month."""
        serializer = RedeemSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = discounting.redeem(
            tenant=self.tenant, code=serializer.validated_data["code"], by=self.actor
        )
        return Response(DiscountSerializer(row).data, status=201)


def benefits_of(tenant: Tenant) -> dict[str, Any]:
    """Return the values of ``BenefitsSerializer`` for a tenant; each list has the oldest first."""
    now = timezone.now()
    discounts = Discount.objects.filter(tenant=tenant).select_related("coupon")
    commitments = Commitment.objects.filter(tenant=tenant)
    owner = pinned_sellers.seller_of(tenant).owner
    progress, trial = agreements.progress(tenant, now), agreements.trial(tenant, now)
    return {
        "tax_id_status": agreed_terms.tax_id_status(tenant).value,
        "balances": BalanceSerializer(movements.balances(tenant.pk, now, [owner]), many=True).data,
        "trial": TrialSerializer(trial).data if trial else None,
        "progress": CommitmentProgressSerializer(progress).data if progress else None,
        "discounts": DiscountSerializer(discounts.order_by("created_at", "id"), many=True).data,
        "commitments": CommitmentSerializer(
            commitments.order_by("created_at", "id"), many=True
        ).data,
        "credits": CreditSerializer(grants.listed(tenant.pk), many=True).data,
    }
