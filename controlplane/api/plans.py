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
    """A plan on offer; `definition` is its part of the published catalog."""

    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    definition = serializers.DictField()


class SpaceOfferSerializer(OfferSerializer):
    """A space plan on offer: the size and price of a space of type `space_type`."""

    space_type = serializers.CharField()


class AddressOfferSerializer(SpaceOfferSerializer):
    """An address plan on offer: the size and price of an address.

    It is for addresses of `address_type` in spaces of `space_type`.
    """

    address_type = serializers.CharField()


class PlansView(PublicView):
    """Lists the plans to which a tenant can subscribe (GET)."""

    @schema.describe("List plans", response=OfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered plan, ordered by key. The list has no pages.

        No login is needed.
        """
        return Response(OfferSerializer(newest(Plan.objects.all()), many=True).data)


class SpacePlansView(PublicView):
    """Lists the space plans on offer (GET)."""

    @schema.describe("List space plans", response=SpaceOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered space plan, ordered by key, without pages.

        Plans for space types that this installation cannot run are left out. No login is needed.
        """
        # A plan for a type that cannot run here would be refused at creation.
        rows = SpacePlan.objects.filter(space_type__in=space_types.offered())
        return Response(SpaceOfferSerializer(newest(rows), many=True).data)


class AddressPlansView(PublicView):
    """Lists the address plans on offer (GET)."""

    @schema.describe("List address plans", response=AddressOfferSerializer(many=True), auth=[])
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered address plan, ordered by key, without pages.

        Plans for space types that this installation cannot run are left out. No login is needed.
        """
        rows = AddressPlan.objects.filter(space_type__in=space_types.offered())
        return Response(AddressOfferSerializer(newest(rows), many=True).data)


def newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return those of ``rows`` that are offered, ordered by key.

    ``rows`` are plans of one kind. Only the newest version of a plan is offered.
    """
    # Publishing retires all older versions, so a plan that is not retired is the newest version.
    return rows.filter(retired=False).order_by("key")
