"""Discounts, coupons, commitments and credit: a tenant reads and redeems, staff give them."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView, TenantView
from plans.invoicing import billing_inputs, discounting, granting
from plans.invoicing.discounting import Reduction
from plans.invoicing.granting import Wish
from plans.ledger import grants
from plans.models import Commitment, Coupon, CreditGrant, Discount
from plans.rating import vat_ids
from plans.rating.periods import Period
from tenants import queries
from tenants.models import Tenant
from tenants.permissions import Permission

_COUPONS = listing.Listing(sorts={"code": ("code",), "created": ("id",)}, default="created")
_REDUCTION = ("title", "percent", "amount_minor", "meters", "months")


class RedeemSerializer(StrictSerializer):
    """The code of a coupon."""

    code = serializers.CharField(max_length=40)


class ReductionSerializer(StrictSerializer):
    """How much cheaper each month gets: either `percent` or `amount_minor`, before tax.

    `meters` are the meters whose lines get cheaper, such as `plan_fee`; empty: all. `months` is for
    how many billing months, the running one included; null: for ever.
    """

    title = serializers.CharField(max_length=100)
    percent = serializers.DecimalField(
        max_digits=15, decimal_places=12, allow_null=True, required=False, default=None
    )
    amount_minor = serializers.IntegerField(
        min_value=1, max_value=10**15, allow_null=True, required=False, default=None
    )
    meters = serializers.ListField(
        child=serializers.CharField(max_length=40), required=False, default=list, max_length=20
    )
    months = serializers.IntegerField(
        min_value=1, max_value=120, allow_null=True, required=False, default=None
    )


class CouponCreateSerializer(ReductionSerializer):
    """A new coupon; `limit` tenants may redeem it, before `expires_at`. Null: no limit, no end."""

    code = serializers.CharField(max_length=40)
    limit = serializers.IntegerField(
        min_value=1, max_value=10**9, allow_null=True, required=False, default=None
    )
    expires_at = serializers.DateTimeField(allow_null=True, required=False, default=None)


class CouponSerializer(serializers.Serializer[Any]):
    """A coupon, and how many tenants have redeemed it."""

    code = serializers.CharField()
    title = serializers.CharField()
    percent = serializers.DecimalField(max_digits=15, decimal_places=12, allow_null=True)
    amount_minor = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    meters = serializers.ListField(child=serializers.CharField())
    months = serializers.IntegerField(allow_null=True)
    limit = serializers.IntegerField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    redeemed = serializers.IntegerField(source="redemptions.count")


class DiscountSerializer(serializers.Serializer[Any]):
    """A discount of a tenant; it counts for each billing month with an instant of its time."""

    id = serializers.CharField()
    title = serializers.CharField()
    coupon = serializers.CharField(source="coupon.code", allow_null=True, default=None)
    percent = serializers.DecimalField(max_digits=15, decimal_places=12, allow_null=True)
    amount_minor = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    meters = serializers.ListField(child=serializers.CharField())
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class CommitmentCreateSerializer(StrictSerializer):
    """What the tenant pays at least for a month, before tax, in minor units.

    Without both instants it begins with the running billing month and does not end.
    """

    title = serializers.CharField(max_length=100)
    minimum_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    starts_at = serializers.DateTimeField(allow_null=True, required=False, default=None)
    ends_at = serializers.DateTimeField(allow_null=True, required=False, default=None)


class CommitmentSerializer(serializers.Serializer[Any]):
    """A minimum commitment of a tenant, in minor units of `currency` a month."""

    id = serializers.CharField()
    title = serializers.CharField()
    minimum_minor = serializers.IntegerField()
    currency = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class CreditCreateSerializer(StrictSerializer):
    """Credit to grant, in minor units; `reference` identifies it, such as the bank's reference."""

    kind = serializers.ChoiceField(CreditGrant.Kind.choices)
    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    reference = serializers.CharField(max_length=120)
    reason = serializers.CharField(max_length=1000)
    expires_at = serializers.DateTimeField(allow_null=True, required=False, default=None)


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


class BenefitsSerializer(serializers.Serializer[Any]):
    """What changes the price of a tenant besides its plan.

    `tax_id_status` is what a check of the form of its tax id found: `valid`, `invalid`,
    `other_country` (not that of the billing country), `not_checked` (outside the EU) or `none`.
    """

    tax_id_status = serializers.CharField()
    discounts = DiscountSerializer(many=True)
    commitments = CommitmentSerializer(many=True)
    credits = CreditSerializer(many=True)


class BenefitsView(TenantView):
    """Shows discounts, commitments and credit of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get discounts and credit", response=BenefitsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the discounts, commitments and granted credit of the tenant, also ended ones."""
        return Response(benefits_of(self.tenant))


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


class CouponsView(StaffView):
    """Lists coupons (GET) and creates one (POST)."""

    @schema.describe(
        "List coupons", response=schema.page_of(CouponSerializer), parameters=_COUPONS.parameters
    )
    def get(self, request: Request) -> Response:
        """Return all coupons."""
        page = _COUPONS.page(request, Coupon.objects.all())
        return Response(pagination.body(page, CouponSerializer))

    @schema.describe(
        "Create a coupon",
        request=CouponCreateSerializer,
        response=CouponSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a coupon. Its code must be new."""
        serializer = CouponCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        row = discounting.create_coupon(
            code=values["code"],
            reduction=Reduction(**{name: values[name] for name in _REDUCTION}),
            limit=values["limit"],
            expires_at=values["expires_at"],
            by=self.actor,
        )
        return Response(CouponSerializer(row).data, status=201)


class StaffBenefitsView(StaffView):
    """Shows discounts, commitments and credit of any tenant (GET)."""

    @schema.describe("Get discounts and credit of a tenant", response=BenefitsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the discounts, commitments and granted credit of the tenant."""
        return Response(benefits_of(queries.get_tenant(tenant)))


class StaffDiscountsView(StaffView):
    """Gives a tenant a discount (POST)."""

    @schema.describe(
        "Give a discount",
        request=ReductionSerializer,
        response=DiscountSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Give the tenant a discount from the running billing month on."""
        serializer = ReductionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = discounting.give(
            tenant=queries.get_tenant(tenant),
            reduction=Reduction(**serializer.validated_data),
            by=self.actor,
        )
        return Response(DiscountSerializer(row).data, status=201)


class StaffCommitmentsView(StaffView):
    """Records a minimum commitment of a tenant (POST)."""

    @schema.describe(
        "Agree on a commitment",
        request=CommitmentCreateSerializer,
        response=CommitmentSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Record what the tenant pays at least for each month."""
        serializer = CommitmentCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        given = [values["starts_at"], values["ends_at"]]
        row = discounting.commit(
            tenant=queries.get_tenant(tenant),
            title=values["title"],
            minimum_minor=values["minimum_minor"],
            span=Period(*given) if all(given) else None,
            by=self.actor,
        )
        return Response(CommitmentSerializer(row).data, status=201)


class StaffCreditsView(StaffView):
    """Grants a tenant credit (POST)."""

    @schema.describe(
        "Grant credit",
        request=CreditCreateSerializer,
        response=CreditSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Grant promotional or prepaid credit, which the next invoices use.

        The same reference and amount again is the same grant, and changes nothing.
        """
        serializer = CreditCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        found = queries.get_tenant(tenant)
        row = granting.grant(tenant=found, wish=Wish(**serializer.validated_data), by=self.actor)
        (shown,) = [one for one in _credits(found) if one["id"] == row.pk]
        return Response(shown, status=201)


def benefits_of(tenant: Tenant) -> dict[str, Any]:
    """Return the JSON values of ``BenefitsSerializer`` for a tenant, the oldest first."""
    discounts = Discount.objects.filter(tenant=tenant).select_related("coupon")
    commitments = Commitment.objects.filter(tenant=tenant)
    return {
        # Computed for tenants whose details were saved before the status was kept.
        "tax_id_status": tenant.tax_id_status
        or vat_ids.check(tenant.billing_country, tenant.tax_id).value,
        "discounts": DiscountSerializer(discounts.order_by("created_at", "id"), many=True).data,
        "commitments": CommitmentSerializer(
            commitments.order_by("created_at", "id"), many=True
        ).data,
        "credits": _credits(tenant),
    }


def _credits(tenant: Tenant) -> list[dict[str, Any]]:
    seller = billing_inputs.seller()
    left = {
        grant.id: grant.left_minor
        for grant in grants.available(tenant.pk, seller.key, seller.rule.currency)
    }
    rows = list(CreditGrant.objects.filter(tenant=tenant).order_by("entry_id"))
    for row in rows:
        row.left_minor = left.get(row.pk, 0)  # type: ignore[attr-defined]  # for the serializer
    return list(CreditSerializer(rows, many=True).data)
