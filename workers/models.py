"""What metering stores between sampling cycles: counters of sources, and samples not in bronze.

The desired state of spaces is in ``tenants.models``.
"""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class MeteredSource(Timestamped):
    """One incarnation of one metered source, with its counters. Key: (source, boot_id).

    * ``boot_id`` identifies the incarnation.
    * ``source`` is ``<space id>/<instance>``, or ``<space id>/space`` for the most connections
      that all instances of the space had at one time.
    * ``seq`` rises by one with each set of sample rows that goes from this row to the outbox.
    * ``sampled_at`` is the time of the last sample; null before the first one.
    * ``bucket_at`` is the start of the bucket that the source is in; null before the first sample.
    * ``moved_at`` is the time of the last sample in which a counter changed; null before the first
      one. By it, quotas find the tenants whose usage has changed.
    * ``addresses`` maps each address to the JSON of its ``AddressState``: epoch, counters and more.
    * ``integrals`` has the other fields of ``SourceState``: counters of the source, open
      connections, marks, ended epochs. ``workers.metering.sources`` converts both columns.
    * ``ended_at`` is when metering saw that the incarnation was over.
    * ``ended_cleanly`` is true if the incarnation ended with its space, right after a last sample.
    * ``restart_at`` is when a planned restart was noted, right after a sample.

    An ended incarnation counts as crashed if it did not end cleanly, unless its last sample is at
    most two minutes later than ``restart_at`` (``metering.quality``). What a crashed incarnation
    used after ``sampled_at`` is not billed, and is shown as a gap.
    """

    source = models.CharField(max_length=120)
    boot_id = models.CharField(max_length=80)
    space_id = models.CharField(max_length=40, db_index=True)
    tenant_id = models.CharField(max_length=40)
    seq = models.BigIntegerField(default=0)
    sampled_at = models.DateTimeField(null=True)
    bucket_at = models.DateTimeField(null=True)
    moved_at = models.DateTimeField(null=True, db_index=True)
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
                # Of two workers that notice a restart at once, only one can begin the new
                # incarnation.
                condition=Q(ended_at__isnull=True),
                name="metered_source_one_life",
            ),
            models.CheckConstraint(
                name="metered_source_clean_end_is_an_end",
                condition=Q(ended_cleanly=False) | Q(ended_at__isnull=False),
            ),
        ]


class LandingBatch(Timestamped):
    """The outbox row of one landing file, which holds the samples of one UTC date.

    The state goes from reserved (rows fixed, their ``seq`` assigned) to landed (file written) to
    committed (file added to the Delta log of bronze).

    * ``id`` is unique; the name of the file begins with it.
    * ``rows`` has the samples as JSON until the commit empties it. So a batch that never landed is
      written again with the same id.
    * ``path`` is empty until the file is written.
    * ``commit_number`` is assigned before the Delta commit that adds the batch, and is the
      transaction version of that commit. All batches of one commit have the same number.
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
            # Partial, because almost all rows are committed and only the others are searched.
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


class FileHash(models.Model):
    """The SHA-256 of one file of the bronze table, recorded when the file was written.

    Key: ``path``, relative to the table. Rows never change and are never deleted, so that a
    verification finds altered files. Files that landed before this table existed have no row.
    """

    path = models.CharField(primary_key=True, max_length=300)
    sha256 = models.CharField(max_length=64)


class LakehouseRun(models.Model):
    """One run of a Spark job on the lakehouse that ended. Runs that a kill ended have no row.

    * ``seconds`` is from start to end. ``cpu_seconds`` is the processor time of Python and Java on
      the machine of the job; executors in other pods are not in it.
    * ``n_samples`` counts the new rows of bronze, ``n_quarantined`` those refused and the counter
      resets, ``n_files`` the new files of bronze. ``as_of`` is up to when usage was complete after
      the run; null if it failed or found no sample.
    * ``files`` maps each table to its number of files after housekeeping, else empty.
    * ``error_code`` is empty if the run succeeded.
    """

    class Job(models.TextChoices):
        PIPELINE = "pipeline"
        HOUSEKEEPING = "housekeeping"

    job = models.CharField(max_length=20, choices=Job.choices)
    started_at = models.DateTimeField()
    seconds = models.FloatField()
    cpu_seconds = models.FloatField(default=0)
    n_samples = models.BigIntegerField(default=0)
    n_quarantined = models.BigIntegerField(default=0)
    # The version before these columns goes on inserting rows during an upgrade.
    n_files = models.PositiveIntegerField(default=0, db_default=0)
    as_of = models.DateTimeField(null=True)
    files = models.JSONField(default=dict)
    error_code = models.CharField(max_length=80, blank=True)

    class Meta:
        indexes = [models.Index(fields=["job", "-started_at"], name="lakehouse_run_newest")]


class QuarantinedSample(models.Model):
    """One of the newest rows of ``bronze.quarantine``, copied for the operator's pages.

    Key: source, boot_id, seq, address, epoch, reason. The columns are those of the table
    (docs/lakehouse.md); a refused row may lack any of them. ``copied_at`` is when a worker found
    the row, ``table_id`` and ``table_version`` the version of the table in which it did.
    """

    table_id = models.CharField(max_length=64)
    table_version = models.BigIntegerField()
    copied_at = models.DateTimeField()
    tenant_id = models.CharField(max_length=40)
    space_id = models.CharField(max_length=40)
    source = models.CharField(max_length=120)
    boot_id = models.CharField(max_length=80)
    address = models.CharField(max_length=300)
    seq = models.BigIntegerField(null=True)
    epoch = models.BigIntegerField(null=True)
    taken_at = models.DateTimeField(null=True)
    batch_id = models.CharField(max_length=64)
    reason = models.CharField(max_length=20)
    detail = models.TextField(blank=True)

    class Meta:
        constraints = [
            # A compaction rewrites rows that are copied already.
            models.UniqueConstraint(
                fields=["source", "boot_id", "seq", "address", "epoch", "reason"],
                # A refused row may lack ``seq`` or ``epoch``. By default PostgreSQL takes two such
                # rows for different ones.
                nulls_distinct=False,
                name="quarantined_sample_once",
            )
        ]
        indexes = [models.Index(fields=["-copied_at", "-id"], name="quarantined_sample_newest")]
