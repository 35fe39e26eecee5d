"""/plans, /space-plans, /address-plans: the offered plans, readable without a login."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.views import PublicView
from plans.models import AddressPlan, Plan, SpacePlan
from tenants import space_types


class OfferSerializer(serializers.Serializer[Any]):
    """A plan; ``definition`` is its part of the published catalog."""

    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    definition = serializers.DictField()


class SpaceOfferSerializer(OfferSerializer):
    """A space plan: the size and price of a space."""

    space_type = serializers.CharField()


class AddressOfferSerializer(SpaceOfferSerializer):
    """An address plan: the size and price of an address."""

    address_type = serializers.CharField()


class PlansView(PublicView):
    """The plans that a tenant can subscribe to."""

    @schema.describe("List plans", response=OfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered plan, ordered by key. The list has no pages."""
        return Response(OfferSerializer(newest(Plan.objects.all()), many=True).data)


class SpacePlansView(PublicView):
    """The space plans on offer."""

    @schema.describe("List space plans", response=SpaceOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered space plan, for the types that run here."""
        # A plan for a type that cannot run here would be refused at creation.
        rows = SpacePlan.objects.filter(space_type__in=space_types.offered())
        return Response(SpaceOfferSerializer(newest(rows), many=True).data)


class AddressPlansView(PublicView):
    """The address plans on offer."""

    @schema.describe("List address plans", response=AddressOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered address plan, for the types that run here."""
        rows = AddressPlan.objects.filter(space_type__in=space_types.offered())
        return Response(AddressOfferSerializer(newest(rows), many=True).data)


def newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows that are offered, ordered by key: at most one version of each plan."""
    # Publishing retires all older versions, so a plan that is not retired is the newest version.
    return rows.filter(retired=False).order_by("key")
