"""/staff/catalog: read and publish the catalog of plans and prices."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.catalog_drafts import DifferenceSerializer, TimingSerializer
from controlplane.api.idempotency import idempotent
from controlplane.api.views import StaffView
from plans.catalog import parsing, publishing
from plans.models import CatalogDraft
from tenants.actions import catalog_drafts


class CatalogPublishSerializer(TimingSerializer):
    """A catalog to publish, as YAML text. With `dry_run` nothing is published.

    With a later `effective_at` it is scheduled.
    """

    # Not trimmed: mistakes are reported with line numbers, and leading lines count.
    yaml = serializers.CharField(max_length=500_000, trim_whitespace=False)
    dry_run = serializers.BooleanField(default=False)


class ChangeSerializer(serializers.Serializer[Any]):
    """What publishing does to one plan, which `section` and `key` name; `same` is no change.

    `n_subscribers` counts who uses any version of the plan now: the tenants of a plan, the spaces
    of a space plan, the addresses of an address plan. Spaces and addresses keep their version, and
    so do tenants that do not follow their plan.
    """

    section = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField(help_text="new, changed, retired or same")
    n_subscribers = serializers.IntegerField()


class PublicationSerializer(serializers.Serializer[Any]):
    """The number of the published version, a change for every plan, and the changes in words.

    `number` is null after a dry run, and while the catalog is scheduled. `draft` is the id of the
    draft that was published or scheduled; null after a dry run.
    """

    number = serializers.IntegerField(allow_null=True)
    draft = serializers.CharField(allow_null=True)
    changes = ChangeSerializer(many=True)
    differences = DifferenceSerializer(many=True)


class CatalogSerializer(serializers.Serializer[Any]):
    """The published catalog in its canonical form, as JSON, and as YAML to change and upload.

    `yaml` is the text that was uploaded. If there is none, it is the canonical form.
    """

    document = serializers.DictField()
    yaml = serializers.CharField()


class CatalogView(StaffView):
    """Shows the catalog of plans and prices (GET) and publishes a new version of it (POST)."""

    @schema.describe("Get the catalog", response=CatalogSerializer)
    def get(self, request: Request) -> Response:
        """Return the version of the catalog that was published last; 404 if there is none."""
        document = publishing.current().document
        return Response({"document": document, "yaml": catalog_drafts.text_in_force()})

    @schema.describe(
        "Publish a catalog",
        request=CatalogPublishSerializer,
        response=PublicationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Publish or schedule the next version of the catalog, or only show it (`dry_run`).

        Publishing the same content as the newest version again makes no new version.
        """
        serializer = CatalogPublishSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        yaml = serializer.validated_data["yaml"]
        catalog = parsing.parse(yaml)
        # Before ``publish``: afterwards there is no difference left to show.
        changes = publishing.preview(catalog)
        differences = catalog_drafts.compared(dict(catalog.document))
        published: dict[str, Any] = {"number": None, "draft": None}
        if not serializer.validated_data["dry_run"]:
            # In one transaction: a catalog that is refused leaves no draft behind.
            with transaction.atomic():
                draft = catalog_drafts.publish(
                    draft=catalog_drafts.prepare(yaml=yaml, by=self.actor),
                    timing=serializer.timing(),
                    by=self.actor,
                    now=timezone.now(),
                )
            newest = publishing.newest_version()
            is_in_force = draft.state == CatalogDraft.State.PUBLISHED
            number = newest.number if newest and is_in_force else None
            published = {"number": number, "draft": draft.pk}
        shown = {"changes": ChangeSerializer(changes, many=True).data}
        return Response(
            {**published, **shown, "differences": DifferenceSerializer(differences, many=True).data}
        )
