"""/staff/catalog: read and publish the catalog of plans and prices."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from plans.catalog import parsing, publishing


class CatalogPublishSerializer(StrictSerializer):
    """A catalog to publish, as YAML text. With `dry_run` nothing is published."""

    # Not trimmed: mistakes are reported with line numbers, and leading lines count.
    yaml = serializers.CharField(max_length=500_000, trim_whitespace=False)
    dry_run = serializers.BooleanField(default=False)


class ChangeSerializer(serializers.Serializer[Any]):
    """What publishing does to one plan, which `section` and `key` name; `same` is no change.

    `n_subscribers` counts who uses any version of the plan now: the tenants of a plan, the spaces
    of a space plan, the addresses of an address plan. They keep their version.
    """

    section = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField(help_text="new, changed, retired or same")
    n_subscribers = serializers.IntegerField()


class PublicationSerializer(serializers.Serializer[Any]):
    """The number of the published version, null after a dry run, and a change for every plan."""

    number = serializers.IntegerField(allow_null=True)
    changes = ChangeSerializer(many=True)


class CatalogSerializer(serializers.Serializer[Any]):
    """The published catalog in its canonical form, as JSON."""

    document = serializers.DictField()


class CatalogView(StaffView):
    """Shows the catalog of plans and prices (GET) and publishes a new version of it (POST)."""

    @schema.describe("Get the catalog", response=CatalogSerializer)
    def get(self, request: Request) -> Response:
        """Return the version of the catalog that was published last; 404 if there is none."""
        return Response({"document": publishing.current().document})

    @schema.describe(
        "Publish a catalog",
        request=CatalogPublishSerializer,
        response=PublicationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Publish the next version of the catalog, or only show its changes (`dry_run`).

        Publishing the same content as the newest version again changes nothing.
        """
        serializer = CatalogPublishSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        catalog = parsing.parse(serializer.validated_data["yaml"])
        # Before ``publish``: afterwards there is no difference left to show.
        changes = publishing.preview(catalog)
        number = None
        if not serializer.validated_data["dry_run"]:
            number = publishing.publish(catalog, by=self.actor).number
        return Response({"number": number, "changes": ChangeSerializer(changes, many=True).data})
