"""/staff/catalogue: read and publish the catalogue of plans and prices."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from plans import catalog


class CataloguePublishSerializer(StrictSerializer):
    """A catalogue as YAML text. With ``dry_run`` nothing is published."""

    yaml = serializers.CharField(max_length=500_000, trim_whitespace=False)
    dry_run = serializers.BooleanField(default=False)


class ChangeSerializer(serializers.Serializer[Any]):
    """What publishing does to one plan, and how many tenants are on it."""

    section = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField(help_text="new, changed, retired or same")
    n_subscribers = serializers.IntegerField()


class PublicationSerializer(serializers.Serializer[Any]):
    """``number`` is null after a dry run."""

    number = serializers.IntegerField(allow_null=True)
    changes = ChangeSerializer(many=True)


class CatalogueSerializer(serializers.Serializer[Any]):
    """The published catalogue in its canonical form."""

    document = serializers.DictField()


class CatalogueView(StaffView):
    """The catalogue."""

    @schema.describe("Get the catalogue", response=CatalogueSerializer)
    def get(self, request: Request) -> Response:
        """The newest publication."""
        return Response({"document": catalog.current().document})

    @schema.describe(
        "Publish a catalogue", request=CataloguePublishSerializer, response=PublicationSerializer
    )
    def post(self, request: Request) -> Response:
        """Publish the next version; the same content again changes nothing."""
        asked = CataloguePublishSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        catalogue = catalog.parse(asked.validated_data["yaml"])
        changes = catalog.preview(catalogue)
        number = None
        if not asked.validated_data["dry_run"]:
            number = catalog.publish(catalogue, by=self.actor).number
        return Response({"number": number, "changes": ChangeSerializer(changes, many=True).data})
