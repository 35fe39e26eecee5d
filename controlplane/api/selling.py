"""Who sells: the legal entities of the catalog, and from which of them a tenant buys."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import PublicView, StaffView, TenantView
from plans.catalog import publishing, selling
from plans.catalog.selling import Offer
from tenants import queries
from tenants.actions import sellers
from tenants.permissions import Permission


class SellerSerializer(serializers.Serializer[Any]):
    """A selling legal entity; the first of `currencies` is its main one."""

    legal_entity = serializers.CharField(source="key")
    name = serializers.CharField()
    country = serializers.CharField()
    currencies = serializers.ListField(child=serializers.CharField())


class TenantSellerSerializer(serializers.Serializer[Any]):
    """From which legal entity, and in which currency, a tenant buys."""

    legal_entity = serializers.CharField(source="seller.key")
    name = serializers.CharField(source="seller.name")
    country = serializers.CharField(source="seller.country")
    currency = serializers.CharField()


class SellerChoiceSerializer(StrictSerializer):
    """The new seller of a tenant, the currency of its invoices, and why."""

    legal_entity = serializers.CharField(max_length=63)
    currency = serializers.CharField(max_length=3)
    reason = serializers.CharField(max_length=1000)


class SellersView(PublicView):
    """Lists the selling legal entities (GET)."""

    is_public = True

    @schema.describe("List sellers", response=schema.page_of(SellerSerializer), auth=[])
    def get(self, request: Request) -> Response:
        """Return the legal entities from which a new tenant may buy, the main one first.

        The list has a single page. No login is needed.
        """
        rows = publishing.current().sellers
        return Response(pagination.whole([SellerSerializer(row).data for row in rows]))


class TenantSellerView(TenantView):
    """Shows from which seller a tenant buys (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get the seller", response=TenantSellerSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the legal entity that sells to the tenant, and the currency of its invoices."""
        return Response(TenantSellerSerializer(selling.of_tenant(self.tenant.pk)).data)


class StaffTenantSellerView(StaffView):
    """Shows from which seller any tenant buys (GET), and changes it (POST)."""

    @schema.describe("Get the seller of a tenant", response=TenantSellerSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the legal entity that sells to the tenant, and the currency of its invoices."""
        found = selling.of_tenant(queries.get_tenant(tenant).pk)
        return Response(TenantSellerSerializer(found).data)

    @schema.describe(
        "Change the seller of a tenant",
        request=SellerChoiceSerializer,
        response=TenantSellerSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Let the tenant buy from another legal entity or in another currency.

        The request is refused (409) once an invoice is priced, the ledger has entries of the
        tenant, or the tenant has a commitment or a discount of an amount.
        """
        serializer = SellerChoiceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        found = sellers.change(
            tenant=queries.get_tenant(tenant),
            wanted=selling.offer(values["legal_entity"], values["currency"]),
            reason=values["reason"],
            by=self.actor,
        )
        return Response(TenantSellerSerializer(found).data)


def wanted(values: dict[str, Any]) -> Offer | None:
    """Return the offer that a sign-up names with ``legal_entity`` and ``currency``; None: neither.

    Raises:
        Invalid: there is no such seller, or it does not sell in the currency.
    """
    # One of them is enough: ``selling.offer`` takes the main seller, or its main currency.
    if not (values["legal_entity"] or values["currency"]):
        return None
    return selling.offer(values["legal_entity"], values["currency"])
