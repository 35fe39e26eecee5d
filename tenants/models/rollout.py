"""Models of engine releases, their rollouts to all spaces, and maintenance windows."""

from django.db import models
from django.db.models import F, Q

from controlplane.core.models import Timestamped


class EngineRelease(Timestamped):
    """A broker image and a router image that belong together, with a template hash. Immutable.

    Key: the images and ``template_hash``. ``number`` counts the releases of the installation from
    1. ``template_hash`` covers everything else that needs a restart when it changes: the pods'
    specification and the files that instances read at their start.
    """

    number = models.PositiveIntegerField(unique=True)
    broker_image = models.CharField(max_length=500)
    router_image = models.CharField(max_length=500, blank=True)
    template_hash = models.CharField(max_length=16, blank=True, db_column="shape")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["broker_image", "router_image", "template_hash"], name="engine_release_once"
            ),
            models.CheckConstraint(name="engine_release_counted", condition=Q(number__gt=0)),
        ]


class Rollout(Timestamped):
    """One attempt to bring every space to ``release``, in waves. At most one rollout is open.

    Open states are Running, Paused and Stopped. Running <-> Paused (staff); Running -> Done (every
    space runs ``release``); Running -> Stopped (too many spaces failed) -> Running (staff); any
    open state -> Superseded (another rollout began).

    ``is_configured``: a new configured release began it; otherwise staff rolled back. ``revision``
    is the highest revision of the configuration that requested it, 0 after a roll-back. At
    ``resumed_at`` staff last resumed it; from then on each moved space has the full time again to
    become ready.
    """

    class State(models.TextChoices):
        RUNNING = "Running"
        PAUSED = "Paused"
        STOPPED = "Stopped"
        DONE = "Done"
        SUPERSEDED = "Superseded"

    # ``former`` is the release that a roll-back goes to. Null if there is none, as for the first
    # release of an installation.
    release = models.ForeignKey(EngineRelease, on_delete=models.PROTECT, related_name="rollouts")
    former = models.ForeignKey(
        EngineRelease, on_delete=models.PROTECT, null=True, related_name="left_by"
    )
    is_configured = models.BooleanField()
    revision = models.PositiveIntegerField(default=0, db_default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    reason = models.TextField(blank=True)
    resumed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Null values count as equal, so at most one rollout has no ``ended_at`` and is open.
            models.UniqueConstraint(
                fields=["ended_at"],
                condition=Q(ended_at__isnull=True),
                nulls_distinct=False,
                name="rollout_one_open",
            ),
            models.CheckConstraint(
                name="rollout_ended_iff_over",
                condition=Q(ended_at__isnull=True, state__in=["Running", "Paused", "Stopped"])
                | Q(ended_at__isnull=False, state__in=["Done", "Superseded"]),
            ),
            models.CheckConstraint(
                name="rollout_goes_somewhere",
                condition=Q(former__isnull=True) | ~Q(former=F("release")),
            ),
        ]


class MaintenanceWindow(Timestamped):
    """A weekly window, in UTC, in which rollouts may restart the tenant's spaces.

    A tenant without windows allows restarts at any time. Key: (tenant, weekday, starts_at).
    ``weekday`` 0 is Monday. The window lasts ``minutes`` and may end on a later day.
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="maintenance_windows"
    )
    weekday = models.PositiveSmallIntegerField()
    starts_at = models.TimeField()
    minutes = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "weekday", "starts_at"], name="maintenance_window_once"
            ),
            models.CheckConstraint(
                name="maintenance_window_of_a_week",
                condition=Q(weekday__lte=6, minutes__gte=30, minutes__lte=10080),
            ),
        ]
