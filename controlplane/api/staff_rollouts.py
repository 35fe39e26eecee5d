"""/staff/rollout: how far the fleet is on its way to a release of the engines, and steering it."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.errors import Missing
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import Rollout

_VERBS = {"pause": actions.pause, "resume": actions.resume, "roll-back": actions.roll_back}


class ReleaseSerializer(serializers.Serializer[Any]):
    """One pair of the engines' images."""

    number = serializers.IntegerField()
    broker_image = serializers.CharField()
    router_image = serializers.CharField()


class FailureSerializer(serializers.Serializer[Any]):
    """A space that did not become ready in time, and what it says."""

    tenant = serializers.CharField()
    space = serializers.CharField()
    reason = serializers.CharField()


class ProgressSerializer(serializers.Serializer[Any]):
    """Spaces: all there are, those on the release, and those on their way to it."""

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    waiting = serializers.IntegerField()
    changing = serializers.IntegerField()
    failed = serializers.IntegerField()


class RolloutSerializer(serializers.Serializer[Any]):
    """The last rollout that began."""

    state = serializers.ChoiceField(Rollout.State.choices)
    reason = serializers.CharField()
    release = ReleaseSerializer()
    former = ReleaseSerializer(allow_null=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    progress = ProgressSerializer()
    failures = FailureSerializer(many=True)


class PastRolloutSerializer(serializers.Serializer[Any]):
    """A rollout in the list: what it brought, and how it ended."""

    release = ReleaseSerializer()
    state = serializers.ChoiceField(Rollout.State.choices)
    reason = serializers.CharField()
    is_configured = serializers.BooleanField(
        help_text="False where a person rolled the fleet back to this release."
    )
    started_at = serializers.DateTimeField(source="created_at")
    ended_at = serializers.DateTimeField(allow_null=True)


class SteerSerializer(StrictSerializer):
    """Why, for the audit log."""

    reason = serializers.CharField(max_length=1000, required=False, allow_blank=True, default="")


class RolloutsView(StaffView):
    """Every rollout there was."""

    @schema.describe(
        "List rollouts",
        response=schema.page_of(PastRolloutSerializer),
        parameters=schema.PAGE,
    )
    def get(self, request: Request) -> Response:
        """The newest first."""
        rows = Rollout.objects.select_related("release")
        page = pagination.page(request, rows, "id", descending=True)
        return Response(pagination.body(page, PastRolloutSerializer))


class RolloutView(StaffView):
    """The rollout of the engines' newest release."""

    @schema.describe("Get the rollout", response=RolloutSerializer)
    def get(self, request: Request) -> Response:
        """The last one that began; 404 where no release was ever rolled out."""
        rollout = rollouts.latest()
        if rollout is None:
            raise Missing("There are no releases here: the engines run as local programs.")
        return Response(_told(rollout))


class SteerView(StaffView):
    """Pause, resume, roll back."""

    @schema.describe(
        "Pause, resume or roll back", request=SteerSerializer, response=RolloutSerializer
    )
    def post(self, request: Request, verb: str) -> Response:
        """Pause moves no further space; roll-back returns to the release before."""
        if verb not in _VERBS:
            raise Missing(f"A rollout can be steered by: {', '.join(_VERBS)}.")
        asked = SteerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        rollout = _VERBS[verb](by=self.actor, **asked.validated_data)
        return Response(_told(rollout))


def _told(rollout: Rollout) -> Any:
    """Return the rollout with where the fleet stands."""
    now = timezone.now()
    patience = timedelta(seconds=settings.ROLLOUT_PATIENCE_SECONDS)
    told = {
        "state": rollout.state,
        "reason": rollout.reason,
        "release": rollout.release,
        "former": rollout.former,
        "started_at": rollout.created_at,
        "ended_at": rollout.ended_at,
        "progress": rollouts.progress(rollout, now, patience),
        "failures": rollouts.list_failed(rollout, now, patience),
    }
    return RolloutSerializer(told).data
