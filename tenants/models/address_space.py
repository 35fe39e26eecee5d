"""Models of an address space and of its former plans, broker slots, endpoints and secrets."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids, phases
from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.models import Timestamped
from tenants.models.reconciled import Reconciled, reconciled_constraints

# Filters for spaces that are not ready, and for spaces with a bad certificate. Each is the
# condition of an index too: PostgreSQL uses the index for a query that repeats the filter
# literally.
NOT_READY = Q(
    deletion_requested_at__isnull=True,
    conditions__contains=[{"type": phases.READY, "status": "False"}],
)
CERTIFICATE_BAD = Q(
    deletion_requested_at__isnull=True,
    conditions__contains=[{"type": "Certificate", "status": "False"}],
)


class SpaceType(models.TextChoices):
    """The type of a space, fixed at creation.

    Standard: clients connect to routers, which have brokers behind them. Brokered: clients connect
    to the space's only broker.
    """

    STANDARD = "standard"
    BROKERED = "brokered"


class AddressSpace(Reconciled):
    """An isolated messaging space of one tenant: routers and brokers with a namespace and CA.

    ``name`` is unique in its tenant until the space is deleted.

    Desired state:

    - ``plan_generation``: the generation in which the plan or ``throttle_percent`` last changed.
    - ``logins_generation``: the generation in which ``send_withdrawn`` or ``connections_refused``
      last changed; 0 before.
    - ``release``: the engine release to run; null before the first rollout.
    - ``released_at``: when a rollout, the stop of one or a roll-back assigned ``release``. Null if
      none did, or if the space was down then, so that it never counts as a failure.
    - ``labels``: {key: value} of ``tenants.label_rules``. Labels change nothing on brokers and
      routers.
    - ``send_withdrawn``, ``throttle_percent``, ``connections_refused``: what clients of the space
      may not do because of a used-up monthly quota, unpaid invoices, a suspension or a closure
      (``tenants.actions.restrictions``).

    Observed state:

    - ``observed_release``: the release with which the space was last ready; null before. The first
      rollout sets it for older spaces. A roll-back, or the stop of a rollout, sets it for spaces
      that are between two releases.
    - ``rolled_at``: the last time that an instance was restarted to apply a change.
    - ``router_patches``: the names of the patches that all its running routers have, sorted.
    - ``probed_at``: when probe messages last passed through every type of address in use, on every
      instance. The probes use internal addresses of the same types.
    - ``silent_since``: since when an instance has not answered the sampler; null if all answer.

    State of the reconcile loop:

    - ``claimed_by``, ``claimed_until``: the lease of the one worker that may reconcile the space.
    - ``next_attempt_at``: when the next pass is due; null means now.
    - ``last_full_pass_at``: when the last full pass that ended in ``Done`` began.
    - ``attempts``: rises by one with each pass that crashes. A pass that fails with a reason sets
      it to 1, any other pass to 0.
    - ``waiting``: the wait that ended the last pass (``workers.reconcile.waiting``); null if it did
      not wait.
    - ``waiting_since``: since when that wait is unchanged; null if the last pass did not wait, or
      if a pass was requested since.
    - ``files_outdated``: a pass has changed running instances, and their start-up files may lack
      that change. ``files_built_at`` is when a pass last wrote complete files.
    - ``known_boots``: by instance, the incarnation (``boot_id``) that ran when complete files were
      last written. It has applied everything that the rows requested then.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.space_id)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="spaces")
    name = models.CharField(max_length=63)
    type = models.CharField(max_length=10, choices=SpaceType.choices)
    space_plan = models.ForeignKey(
        "plans.SpacePlan", on_delete=models.PROTECT, related_name="spaces"
    )
    plan_generation = models.BigIntegerField(default=1, db_default=1)
    logins_generation = models.BigIntegerField(default=0, db_default=0)
    send_withdrawn = models.BooleanField(default=False)
    throttle_percent = models.PositiveSmallIntegerField(null=True)
    connections_refused = models.BooleanField(default=False, db_default=False)
    labels = models.JSONField(default=dict, db_default={})
    router_patches = models.JSONField(default=list, db_default=[])
    claimed_by = models.CharField(max_length=120, blank=True)
    claimed_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True, db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    waiting = models.JSONField(null=True)
    waiting_since = models.DateTimeField(null=True)
    files_outdated = models.BooleanField(default=False, db_default=False)
    files_built_at = models.DateTimeField(null=True)
    known_boots = models.JSONField(default=dict, db_default={})
    probed_at = models.DateTimeField(null=True)
    silent_since = models.DateTimeField(null=True)
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
        # Notifications look for these each cycle. A query must repeat the condition as it is here.
        indexes = [
            models.Index(fields=["id"], condition=NOT_READY, name="space_not_ready"),
            models.Index(fields=["id"], condition=CERTIFICATE_BAD, name="space_certificate_bad"),
        ]
        constraints = [
            *reconciled_constraints("space"),
            models.UniqueConstraint(
                fields=["tenant", "name"],
                # Deleted rows stay for billing, and their names may be used again.
                condition=Q(deleted_at__isnull=True),
                name="space_name_once",
            ),
            models.CheckConstraint(name="space_type_known", condition=Q(type__in=SpaceType.values)),
        ]

    @property
    def send_withdrawn_reason(self) -> str:
        """Why no client may send, as the API names it; empty while clients may send."""
        if not self.send_withdrawn:
            return ""
        if self.tenant.unpaid_stage:
            return "unpaid_invoices"
        if self.tenant.suspended_at is not None:
            return "suspension"
        return "quota" if self.tenant.erase_at is None else "closure"


class FormerSpacePlan(Timestamped):
    """A plan version that a space had until ``ended_at``; billing reads it. Immutable.

    Key: (space, ended_at). The present plan version is a column of the space. A former one began
    at the ``ended_at`` of the row before it, the first one with the space itself.
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="former_plans")
    # PROTECT: invoices are recomputed from these rows years later.
    space_plan = models.ForeignKey("plans.SpacePlan", on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "ended_at"], name="former_space_plan_once")
        ]


class Broker(Timestamped):
    """A broker slot: while the row exists and its space is not deleted, a broker must run.

    Key: (space, ordinal). Actions create the row, and the workers then create the broker. In a
    standard space the workers delete the row when no address is placed on the broker and the broker
    stores no messages. The one row of a brokered space stays.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.broker_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="brokers")
    ordinal = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "ordinal"], name="broker_once")]

    @property
    def name(self) -> str:
        """The name of the broker among the instances of its space, such as ``broker-0``."""
        return InstanceId(Kind.BROKER, self.ordinal).name


class Endpoint(Timestamped):
    """A host and port that clients of a space connect to; the workers write it.

    Key: (space, name).
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=40)  # such as amqps
    protocol = models.CharField(max_length=20)
    host = models.CharField(max_length=255)
    port = models.PositiveIntegerField()
    # The CA certificates that a client must trust; empty where clients trust the issuer already.
    certificate_pem = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "name"], name="endpoint_once")]


class SpaceSecret(Timestamped):
    """A secret of a space, such as its CA key. Key: (space, name).

    ``sealed`` is the secret, encrypted by ``controlplane.core.secrets``.
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=80)
    sealed = models.TextField()
    public = models.TextField(blank=True)  # the certificate of the key, if it has one
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "name"], name="space_secret_once")]
