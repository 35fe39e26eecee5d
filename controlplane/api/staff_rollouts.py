"""/staff/rollout(s): rollouts of releases of brokers and routers, and commands to control them."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.errors import Missing
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import Rollout

# Ids rise with time and are unique.
_LISTING = listing.Listing(
    sorts={"started_at": ("id",)},
    default="-started_at",
    filters=(listing.choice("state", "Rollouts in this state.", Rollout.State.values),),
)
# The last segment of the path -> the action.
_VERBS = {"pause": actions.pause, "resume": actions.resume, "roll-back": actions.roll_back}


class ReleaseSerializer(serializers.Serializer[Any]):
    """One release, with its images of brokers and routers."""

    number = serializers.IntegerField()
    broker_image = serializers.CharField()
    router_image = serializers.CharField()


class FailureSerializer(serializers.Serializer[Any]):
    """A space that counts as failed: not ready in time, or unable to start with the release.

    `tenant` is the slug. `reason` is the message of the condition Ready of the space, and empty if
    the space has become ready since.
    """

    tenant = serializers.CharField()
    space = serializers.CharField()
    reason = serializers.CharField()


class ProgressSerializer(serializers.Serializer[Any]):
    """The numbers of spaces by their progress in the rollout.

    `done` run the release. `waiting` have not got it yet, or were down when they got it. `changing`
    have got it and may still become ready in time. `failed` did not, or cannot start with it.
    `total` also counts new spaces that were never ready, which no other number counts.
    """

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    waiting = serializers.IntegerField()
    changing = serializers.IntegerField()
    failed = serializers.IntegerField()


class RolloutSerializer(serializers.Serializer[Any]):
    """The latest rollout: its release, its state, its progress and its failed spaces.

    `former` is the release to which a roll-back would go; null if there is none.
    """

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
    """An optional reason for the command, which the audit log and the rollout show."""

    reason = serializers.CharField(max_length=1000, required=False, allow_blank=True, default="")


class RolloutsView(StaffView):
    """Lists all rollouts (GET)."""

    @schema.describe(
        "List rollouts",
        response=schema.page_of(PastRolloutSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return all rollouts, open and ended ones."""
        rows = Rollout.objects.select_related("release")
        page = _LISTING.page(request, rows)
        return Response(pagination.body(page, PastRolloutSerializer))


class RolloutView(StaffView):
    """Shows the latest rollout (GET)."""

    @schema.describe("Get the rollout", response=RolloutSerializer)
    def get(self, request: Request) -> Response:
        """Return the rollout that began last, in any state; 404 if none ever began."""
        rollout = rollouts.latest()
        if rollout is None:
            raise Missing("There are no releases: brokers and routers run as local programs.")
        return Response(rollout_body(rollout))


class SteerView(StaffView):
    """Pauses, resumes or rolls back the latest rollout (POST)."""

    @schema.describe(
        "Steer the rollout",
        request=SteerSerializer,
        response=RolloutSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, verb: str) -> Response:
        """Pause, resume or roll back the latest rollout, as `verb` says; return it or the new one.

        `pause` changes no further space. `resume` continues a paused or stopped rollout, and failed
        spaces get another attempt. `roll-back` begins a new rollout to the former release. A state
        that does not allow the command is a 409.
        """
        if verb not in _VERBS:
            raise Missing(f"There is no such command. A rollout accepts: {', '.join(_VERBS)}.")
        serializer = SteerSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        rollout = _VERBS[verb](by=self.actor, **serializer.validated_data)
        return Response(rollout_body(rollout))


def rollout_body(rollout: Rollout) -> Any:
    """Return the body that ``RolloutSerializer`` describes, for ``rollout``.

    Progress and failed spaces are computed from the spaces as they are now.
    """
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
