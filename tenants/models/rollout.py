"""Releases of the engines' images, and how the fleet of spaces is brought to one of them."""

from django.db import models
from django.db.models import F, Q

from controlplane.core.models import Timestamped


class EngineRelease(Timestamped):
    """The images of brokers and routers that belong together. Key: the images and ``shape``.

    ``number`` counts from 1, the first that the installation was ever given. ``shape`` stands for
    how else their pods are made, and for the files that they read at their start. Immutable.
    """

    number = models.PositiveIntegerField(unique=True)
    broker_image = models.CharField(max_length=500)
    router_image = models.CharField(max_length=500, blank=True)
    shape = models.CharField(max_length=16, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["broker_image", "router_image", "shape"], name="engine_release_once"
            ),
            models.CheckConstraint(name="engine_release_counted", condition=Q(number__gt=0)),
        ]


class Rollout(Timestamped):
    """One undertaking to bring every space to ``release``, away from ``former``.

    Running <-> Paused (a person) ; Running -> Done ; any of them -> Superseded (another began)
    Running -> Stopped (too many spaces failed) -> Running (a person)

    At most one is open. ``is_configured``: the installation's configuration asked for it, else a
    person rolled back; then ``revision`` is the configuration's, the highest there was. Spaces that
    failed count anew from ``resumed_at``.
    """

    class State(models.TextChoices):
        RUNNING = "Running"
        PAUSED = "Paused"
        STOPPED = "Stopped"
        DONE = "Done"
        SUPERSEDED = "Superseded"

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
    """When a tenant's spaces may be restarted by a rollout: each week, UTC. None: at any time.

    Key: (tenant, weekday, starts_at). ``weekday`` 0 is Monday; it may end on a later day.
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
