"""What the workers must remember between passes: metering only; desired state is elsewhere."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class MeteredSource(Timestamped):
    """One life of one metered source. Key: (source, boot_id).

    ``source`` is ``<space id>/<instance>`` (``…/space`` for sums over instances). ``seq`` rises by
    one per landed row set; ``bucket_at`` is the bucket its next sample belongs to; ``integrals``
    holds running gauges ({connection_ms, …}) and ``addresses`` maps address -> {epoch, last
    counters, stored_byte_ms}: workers.metering.sources reads both. ``ended_at`` is when the life
    was seen to be over, ``ended_cleanly`` whether a last sample was taken before: if not, what
    came after ``sampled_at`` is not billed and is shown as a gap. ``restart_at`` is when its end
    was asked for right after a sample: a life that ends soon after it was not cut off by a crash.
    """

    source = models.CharField(max_length=120)
    boot_id = models.CharField(max_length=80)
    space_id = models.CharField(max_length=40, db_index=True)
    tenant_id = models.CharField(max_length=40)
    seq = models.BigIntegerField(default=0)
    sampled_at = models.DateTimeField(null=True)
    bucket_at = models.DateTimeField(null=True)
    integrals = models.JSONField(default=dict)
    addresses = models.JSONField(default=dict)
    ended_at = models.DateTimeField(null=True)
    ended_cleanly = models.BooleanField(default=False)
    restart_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "boot_id"], name="metered_source_life_once"),
            models.UniqueConstraint(
                fields=["source"],
                condition=Q(ended_at__isnull=True),
                name="metered_source_one_life",
            ),
            models.CheckConstraint(
                name="metered_source_clean_end_is_an_end",
                condition=Q(ended_cleanly=False) | Q(ended_at__isnull=False),
            ),
        ]


class LandingBatch(Timestamped):
    """The outbox row of one landing file. Key: ``id`` (the file's name begins with it).

    reserved (rows fixed, seq taken) -> landed (file in place) -> committed (in the Delta log).
    ``rows`` is the payload until committed, so that a batch that never landed is written again
    with the same id; all its rows are of one date. ``commit_number`` is fixed before the Delta
    commit that takes the batch in and is that commit's transaction version.
    """

    class State(models.TextChoices):
        RESERVED = "reserved"
        LANDED = "landed"
        COMMITTED = "committed"

    number = models.BigAutoField(primary_key=True)
    id = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RESERVED)
    rows = models.JSONField(default=list)
    n_rows = models.PositiveIntegerField()
    path = models.CharField(max_length=300, blank=True)  # relative to the bronze table
    landed_at = models.DateTimeField(null=True)
    commit_number = models.BigIntegerField(null=True, db_index=True)
    committed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["state"], condition=~Q(state="committed"), name="landing_batch_open"
            )
        ]
        constraints = [
            models.CheckConstraint(
                name="landing_batch_path_iff_landed",
                condition=Q(state="reserved") | ~Q(path=""),
            ),
            models.CheckConstraint(
                name="landing_batch_numbered_when_committed",
                condition=~Q(state="committed") | Q(commit_number__isnull=False),
            ),
        ]
