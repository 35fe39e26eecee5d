"""/plans, /space-plans, /address-plans: what is offered, open to everyone."""

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
    """A plan; ``definition`` is its part of the published catalogue (docs/catalogue)."""

    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    definition = serializers.DictField()


class SpaceOfferSerializer(OfferSerializer):
    """The size and price of a space."""

    space_type = serializers.CharField()


class AddressOfferSerializer(SpaceOfferSerializer):
    """The cost of an address."""

    address_type = serializers.CharField()


class PlansView(PublicView):
    """What a tenant can subscribe to."""

    @schema.describe("List plans", response=OfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """The newest version of each that is offered, by key. Not paged: they are few."""
        return Response(OfferSerializer(_offered(Plan.objects.all()), many=True).data)


class SpacePlansView(PublicView):
    """What a space can be."""

    @schema.describe("List space plans", response=SpaceOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """The newest version of each that is offered, by key; of types that can run here."""
        rows = SpacePlan.objects.filter(space_type__in=space_types.offered())
        return Response(SpaceOfferSerializer(_offered(rows), many=True).data)


class AddressPlansView(PublicView):
    """What an address can be."""

    @schema.describe("List address plans", response=AddressOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """The newest version of each that is offered, by key; of types that can run here."""
        rows = AddressPlan.objects.filter(space_type__in=space_types.offered())
        return Response(AddressOfferSerializer(_offered(rows), many=True).data)


def _offered(rows: QuerySet[Any]) -> QuerySet[Any]:
    # Publishing retires every older version, so what is not retired is the newest.
    return rows.filter(retired=False).order_by("key")
