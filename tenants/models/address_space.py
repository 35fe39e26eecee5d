"""An address space, its broker slots, endpoints and secrets."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models.reconciled import Reconciled, reconciled_constraints


class SpaceType(models.TextChoices):
    """Fixed at creation: routers in front of brokers, or one broker that clients reach."""

    STANDARD = "standard"
    BROKERED = "brokered"


class AddressSpace(Reconciled):
    """An isolated messaging space: one namespace, one CA, addresses behind one connection.

    Name unique in its tenant while not deleted. ``claimed_by``/``claimed_until`` are the lease of
    the one worker that may reconcile it; ``next_attempt_at`` is when to look again and
    ``attempts`` counts crashed passes in a row, one more behind a pass that failed in words, and is
    0 after any other (expected waiting is no failure).
    ``waiting_for`` is where the last passes stopped, ``waiting_since`` since when nothing moved;
    null while nothing waits, and when somebody asks for a look.
    ``plan_generation`` is the generation that gave it its plan.
    ``release`` is which of the engines' images it shall run (null: the first there were),
    ``released_at`` since when, and ``observed_release`` which one is real.
    ``rolled_at`` is when one of its instances was last restarted to take a change on.
    ``send_withdrawn`` is desired state set by the period quota: every user loses ``send``.
    ``router_patches``: which of our patches all of its routers have, observed, sorted.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.space_id)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="spaces")
    name = models.CharField(max_length=63)
    type = models.CharField(max_length=10, choices=SpaceType.choices)
    space_plan = models.ForeignKey(
        "plans.SpacePlan", on_delete=models.PROTECT, related_name="spaces"
    )
    plan_generation = models.BigIntegerField(default=1, db_default=1)
    send_withdrawn = models.BooleanField(default=False)
    router_patches = models.JSONField(default=list, db_default=[])
    claimed_by = models.CharField(max_length=120, blank=True)
    claimed_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True, db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    waiting_for = models.CharField(max_length=200, blank=True, db_default="")
    waiting_since = models.DateTimeField(null=True)
    last_full_pass_at = models.DateTimeField(null=True)
    rolled_at = models.DateTimeField(null=True)
    release = models.ForeignKey(
        "tenants.EngineRelease", on_delete=models.PROTECT, null=True, related_name="spaces"
    )
    observed_release = models.ForeignKey(
        "tenants.EngineRelease", on_delete=models.PROTECT, null=True, related_name="+"
    )
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            *reconciled_constraints("space"),
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=Q(deleted_at__isnull=True),
                name="space_name_once",
            ),
            models.CheckConstraint(name="space_type_known", condition=Q(type__in=SpaceType.values)),
        ]


class FormerSpacePlan(Timestamped):
    """A plan that a space had until ``ended_at``; the present one is on the space. Never changed.

    Key: (space, ended_at). It began when the one before ended, the first with the space itself.
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="former_plans")
    space_plan = models.ForeignKey("plans.SpacePlan", on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "ended_at"], name="former_space_plan_once")
        ]


class Broker(Timestamped):
    """One broker slot of a space; placement fills it, the workers run it. Key: (space, ordinal).

    Desired state: the row exists -> the broker runs. A broker is removed only when empty.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.broker_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="brokers")
    ordinal = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "ordinal"], name="broker_once")]

    @property
    def name(self) -> str:
        """The instance's name inside its namespace."""
        return f"broker-{self.ordinal}"


class Endpoint(Timestamped):
    """Where clients connect: observed, written by the workers. Key: (space, name)."""

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=40)  # amqps
    protocol = models.CharField(max_length=20)
    host = models.CharField(max_length=255)
    port = models.PositiveIntegerField()
    certificate_pem = models.TextField()  # whom a client must trust; empty: whom it does already

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "name"], name="endpoint_once")]


class SpaceSecret(Timestamped):
    """A secret of a space (CA key, broker credentials), sealed by core.secrets.

    Key: (space, name).
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=80)
    sealed = models.TextField()
    public = models.TextField(blank=True)  # the matching certificate, where there is one
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "name"], name="space_secret_once")]
