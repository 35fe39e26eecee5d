"""Discounts, coupons, commitments and credit of tenants, as staff give and end them."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.benefits import (
    MOVEMENT_PAGE,
    MOVEMENTS,
    BenefitsSerializer,
    CommitmentSerializer,
    CreditSerializer,
    DiscountSerializer,
    MovementSerializer,
    benefits_of,
)
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from plans.invoicing import discounting, ending, granting
from plans.invoicing.discounting import CouponUse, Reduction
from plans.invoicing.granting import PayBack, Wish
from plans.ledger import grants, movements
from plans.models import Coupon, CreditGrant
from plans.rating.periods import Period
from tenants import queries

_COUPONS = listing.Listing(sorts={"code": ("code",), "created": ("id",)}, default="created")
# The fields of ``Reduction``, which a coupon has among others.
_REDUCTION = ("title", "percent", "amount_minor", "meters", "months")


class ReductionSerializer(StrictSerializer):
    """How much cheaper each month gets: either `percent` or `amount_minor`, before tax.

    `meters` are the meters whose lines get cheaper, such as `plan_fee`; empty: all. `months` is for
    how many billing months, the running one included; null: for ever.
    """

    title = serializers.CharField(max_length=100)
    # A decimal, not a float: invoices compute with exactly this percentage.
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
    reason = serializers.CharField(max_length=1000)


class CouponCreateSerializer(ReductionSerializer):
    """A new coupon; `limit` tenants may redeem it, before `expires_at`. Null: no limit, no end.

    `currency` is the one of `amount_minor`; empty: that of the main seller.
    """

    code = serializers.CharField(max_length=40)
    limit = serializers.IntegerField(
        min_value=1, max_value=10**9, allow_null=True, required=False, default=None
    )
    expires_at = InstantField(allow_null=True, required=False, default=None)
    currency = serializers.CharField(max_length=3, allow_blank=True, required=False, default="")


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
    # DRF calls what ``source`` names: a count in the database.
    redeemed = serializers.IntegerField(source="redemptions.count")


class CommitmentCreateSerializer(StrictSerializer):
    """What the tenant pays at least for a month, before tax, in minor units.

    Without instants it begins with the running billing month and does not end. `starts_at` without
    `ends_at` is refused, and so is the reverse.
    """

    title = serializers.CharField(max_length=100)
    minimum_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    reason = serializers.CharField(max_length=1000)
    starts_at = InstantField(allow_null=True, required=False, default=None)
    ends_at = InstantField(allow_null=True, required=False, default=None)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse one instant without the other."""
        missing = [name for name in ("starts_at", "ends_at") if attrs[name] is None]
        if len(missing) == 1:
            raise serializers.ValidationError(
                {missing[0]: ["Send both starts_at and ends_at, or neither."]}
            )
        return attrs


class CreditCreateSerializer(StrictSerializer):
    """Credit to grant, in minor units; `reference` identifies it, such as the bank's reference."""

    kind = serializers.ChoiceField(CreditGrant.Kind.choices)
    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    reference = serializers.CharField(max_length=120)
    reason = serializers.CharField(max_length=1000)
    expires_at = InstantField(allow_null=True, required=False, default=None)


class CreditPayBackSerializer(StrictSerializer):
    """Prepaid credit to pay back, in minor units; `reference` is that of your bank transfer."""

    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    reference = serializers.CharField(max_length=120)
    reason = serializers.CharField(max_length=1000)


class DiscountEndSerializer(StrictSerializer):
    """Why a discount ends. `at_once`: it does not count for the running month any more."""

    reason = serializers.CharField(max_length=1000)
    at_once = serializers.BooleanField(required=False, default=False)


class CommitmentEndSerializer(StrictSerializer):
    """Why a commitment ends, and when; without `ends_at` with the running billing month."""

    reason = serializers.CharField(max_length=1000)
    ends_at = InstantField(required=False, allow_null=True, default=None)


class CouponEndSerializer(StrictSerializer):
    """Why nobody may redeem a coupon any more."""

    reason = serializers.CharField(max_length=1000)


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
            use=CouponUse(values["limit"], values["expires_at"], values["currency"]),
            by=self.actor,
            reason=values["reason"],
        )
        return Response(CouponSerializer(row).data, status=201)


class StaffBenefitsView(StaffView):
    """Shows discounts, commitments and credit of any tenant (GET)."""

    @schema.describe("Get discounts and credit of a tenant", response=BenefitsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the credit, discounts and commitments, ended ones too, and the running trial."""
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
        values = serializer.validated_data
        # It names no currency: an amount is in that of the tenant's invoices.
        row = discounting.give(
            tenant=queries.get_tenant(tenant),
            reduction=Reduction(**{name: values[name] for name in _REDUCTION}),
            by=self.actor,
            reason=values["reason"],
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
            reason=values["reason"],
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
        return Response(CreditSerializer(grants.with_left(row)).data, status=201)


class CreditPayBackView(StaffView):
    """Pays prepaid credit of a tenant back (POST)."""

    @schema.describe(
        "Pay prepaid credit back",
        request=CreditPayBackSerializer,
        response=CreditSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, credit: str) -> Response:
        """Book that a part of prepaid credit, or all that is left, goes back by a bank transfer.

        No provider sends money: make the transfer yourself. More than is left, promotional credit,
        and credit that has ended are refused (409). The same reference and amount again change
        nothing.
        """
        serializer = CreditPayBackSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = granting.pay_back(
            tenant=queries.get_tenant(tenant),
            grant_id=credit,
            wish=PayBack(**serializer.validated_data),
            by=self.actor,
        )
        return Response(CreditSerializer(grants.with_left(row)).data)


class StaffMovementsView(StaffView):
    """Lists what happened to the credit of any tenant (GET)."""

    @schema.describe(
        "List credit movements of a tenant",
        response=MOVEMENT_PAGE,
        parameters=MOVEMENTS.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return each grant, use and end of credit, the newest first."""
        page = MOVEMENTS.page(request, movements.of_tenant(queries.get_tenant(tenant).pk))
        return Response(pagination.body(page, MovementSerializer))


class DiscountEndView(StaffView):
    """Ends a discount early (POST)."""

    @schema.describe(
        "End a discount",
        request=DiscountEndSerializer,
        response=DiscountSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, discount: str) -> Response:
        """End the discount with the running billing month, or before it.

        The request is refused (409) if an invoice after the new end was priced with the discount.
        Ending it again changes nothing.
        """
        serializer = DiscountEndSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = ending.end_discount(
            tenant=queries.get_tenant(tenant),
            discount_id=discount,
            by=self.actor,
            **serializer.validated_data,
        )
        return Response(DiscountSerializer(row).data)


class CommitmentEndView(StaffView):
    """Ends a minimum commitment early (POST)."""

    @schema.describe(
        "End a commitment",
        request=CommitmentEndSerializer,
        response=CommitmentSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, commitment: str) -> Response:
        """End the commitment. The month of its end counts by its seconds.

        The request is refused (409) if an invoice after the new end was priced with the commitment.
        """
        serializer = CommitmentEndSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = ending.end_commitment(
            tenant=queries.get_tenant(tenant),
            commitment_id=commitment,
            by=self.actor,
            **serializer.validated_data,
        )
        return Response(CommitmentSerializer(row).data)


class CouponEndView(StaffView):
    """Ends a coupon (POST)."""

    @schema.describe(
        "End a coupon",
        request=CouponEndSerializer,
        response=CouponSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, coupon: str) -> Response:
        """Let nobody redeem the coupon any more. Discounts that it gave go on."""
        serializer = CouponEndSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reason = serializer.validated_data["reason"]
        row = ending.end_coupon(code=coupon, reason=reason, by=self.actor)
        return Response(CouponSerializer(row).data)
