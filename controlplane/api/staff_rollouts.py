"""/staff/rollout: the progress of a rollout of brokers and routers, and commands to control it."""

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

# The last segment of the path -> the action.
_VERBS = {"pause": actions.pause, "resume": actions.resume, "roll-back": actions.roll_back}


class ReleaseSerializer(serializers.Serializer[Any]):
    """One release: the images of brokers and routers."""

    number = serializers.IntegerField()
    broker_image = serializers.CharField()
    router_image = serializers.CharField()


class FailureSerializer(serializers.Serializer[Any]):
    """A space that did not become ready in time; ``reason`` is the message of its condition."""

    tenant = serializers.CharField()
    space = serializers.CharField()
    reason = serializers.CharField()


class ProgressSerializer(serializers.Serializer[Any]):
    """Numbers of spaces by their progress in the rollout.

    ``total`` also counts new spaces that are not up yet, which no other number counts.
    """

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    waiting = serializers.IntegerField()
    changing = serializers.IntegerField()
    failed = serializers.IntegerField()


class RolloutSerializer(serializers.Serializer[Any]):
    """The latest rollout: its release, its state, and how far it is."""

    state = serializers.ChoiceField(Rollout.State.choices)
    reason = serializers.CharField()
    release = ReleaseSerializer()
    former = ReleaseSerializer(allow_null=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    progress = ProgressSerializer()
    failures = FailureSerializer(many=True)


class PastRolloutSerializer(serializers.Serializer[Any]):
    """A rollout in the list: its release, its state and the reason for this state."""

    release = ReleaseSerializer()
    state = serializers.ChoiceField(Rollout.State.choices)
    reason = serializers.CharField()
    is_configured = serializers.BooleanField(
        help_text="False where a person rolled the fleet back to this release."
    )
    started_at = serializers.DateTimeField(source="created_at")
    ended_at = serializers.DateTimeField(allow_null=True)


class SteerSerializer(StrictSerializer):
    """The reason of a command, for the audit log."""

    reason = serializers.CharField(max_length=1000, required=False, allow_blank=True, default="")


class RolloutsView(StaffView):
    """All rollouts."""

    @schema.describe(
        "List rollouts",
        response=schema.page_of(PastRolloutSerializer),
        parameters=schema.PAGE,
    )
    def get(self, request: Request) -> Response:
        """Return the rollouts, newest first."""
        rows = Rollout.objects.select_related("release")
        # Ids rise with time and are unique, so no second field is needed.
        page = pagination.page(request, rows, "id", descending=True)
        return Response(pagination.body(page, PastRolloutSerializer))


class RolloutView(StaffView):
    """The latest rollout."""

    @schema.describe("Get the rollout", response=RolloutSerializer)
    def get(self, request: Request) -> Response:
        """Return the rollout that began last; 404 if none ever began."""
        rollout = rollouts.latest()
        if rollout is None:
            raise Missing("There are no releases: brokers and routers run as local programs.")
        return Response(rollout_body(rollout))


class SteerView(StaffView):
    """Commands for the rollout: pause, resume, roll back."""

    @schema.describe(
        "Pause, resume or roll back", request=SteerSerializer, response=RolloutSerializer
    )
    def post(self, request: Request, verb: str) -> Response:
        """Control the rollout.

        ``pause`` changes no further space. ``resume`` continues a paused or stopped rollout, and
        failed spaces get another attempt. ``roll-back`` begins a rollout to the former release.
        """
        if verb not in _VERBS:
            raise Missing(f"There is no such command. A rollout accepts: {', '.join(_VERBS)}.")
        serializer = SteerSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        rollout = _VERBS[verb](by=self.actor, **serializer.validated_data)
        return Response(rollout_body(rollout))


def rollout_body(rollout: Rollout) -> Any:
    """Return the body that ``RolloutSerializer`` describes, with progress and failed spaces."""
    now = timezone.now()
    patience = timedelta(seconds=settings.ROLLOUT_PATIENCE_SECONDS)
    fields = {
        "state": rollout.state,
        "reason": rollout.reason,
        "release": rollout.release,
        "former": rollout.former,
        "started_at": rollout.created_at,
        "ended_at": rollout.ended_at,
        # Not stored with the rollout: both are counted from the spaces at this moment.
        "progress": rollouts.progress(rollout, now, patience),
        "failures": rollouts.list_failed(rollout, now, patience),
    }
    return RolloutSerializer(fields).data
