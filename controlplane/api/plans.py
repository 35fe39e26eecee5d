"""/plans, /space-plans, /address-plans: the offered plans, readable without a login."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.views import PublicView
from plans.models import AddressPlan, Plan, SpacePlan
from tenants import space_types
from tenants.models import AddressType, SpaceType

# The newest version of a plan has its key alone.
_BY_KEY = {"key": ("key",), "title": ("title", "key")}
_SPACE_TYPE = listing.choice("space_type", "Plans for this type of space.", SpaceType.values)
_PLANS = listing.Listing(_BY_KEY, "key")
_SPACE_PLANS = listing.Listing(_BY_KEY, "key", (_SPACE_TYPE,))
_ADDRESS_PLANS = listing.Listing(
    _BY_KEY,
    "key",
    (
        _SPACE_TYPE,
        listing.choice("address_type", "Plans for this type of address.", AddressType.values),
    ),
)


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

    is_public = True

    @schema.describe(
        "List plans",
        response=schema.page_of(OfferSerializer),
        parameters=_PLANS.parameters,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered plan. No login is needed."""
        page = _PLANS.page(request, newest(Plan.objects.all()))
        return Response(pagination.body(page, OfferSerializer))


class SpacePlansView(PublicView):
    """Lists the space plans on offer (GET)."""

    is_public = True

    @schema.describe(
        "List space plans",
        response=schema.page_of(SpaceOfferSerializer),
        parameters=_SPACE_PLANS.parameters,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered space plan.

        Plans for space types that this installation cannot run are left out. No login is needed.
        """
        # A plan for a type that cannot run here would be refused at creation.
        rows = SpacePlan.objects.filter(space_type__in=space_types.offered())
        page = _SPACE_PLANS.page(request, newest(rows))
        return Response(pagination.body(page, SpaceOfferSerializer))


class AddressPlansView(PublicView):
    """Lists the address plans on offer (GET)."""

    is_public = True

    @schema.describe(
        "List address plans",
        response=schema.page_of(AddressOfferSerializer),
        parameters=_ADDRESS_PLANS.parameters,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return the newest version of each offered address plan.

        Plans for space types that this installation cannot run are left out. No login is needed.
        """
        rows = AddressPlan.objects.filter(space_type__in=space_types.offered())
        page = _ADDRESS_PLANS.page(request, newest(rows))
        return Response(pagination.body(page, AddressOfferSerializer))


def newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return those of ``rows`` that are offered.

    ``rows`` are plans of one kind. Only the newest version of a plan is offered.
    """
    # Publishing retires all older versions, so a plan that is not retired is the newest version.
    return rows.filter(retired=False)
