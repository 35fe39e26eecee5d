"""Models of what a worker reads of the samples behind an invoice, for people to look at."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class SampleReading(Timestamped):
    """What a worker read of a part of an invoice's period, at the versions that the invoice pins.

    Key: (invoice, starts_at, ends_at, first, bronze_version). ``first`` is the number of the first
    sample that is kept as a row, from 0. ``finished_at`` is null until everything is read; then:

    * ``n_samples`` and ``sample_hash``: of all samples of the part (``sample_hash.VALUES``);
    * ``n_counters``: how many counters have samples in the part;
    * ``from_samples``: {meter: quantity} computed from the samples alone;
    * ``hours``: a mapping for each hour with samples or usage (``plans.invoicing.sample_readings``
      has its form).

    Rows and readings are deleted after a day.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.sample_reading_id)
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.PROTECT, related_name="sample_readings"
    )
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    first = models.PositiveBigIntegerField(default=0)
    bronze_version = models.BigIntegerField()
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)
    n_samples = models.PositiveBigIntegerField(default=0)
    sample_hash = models.CharField(max_length=64, blank=True)
    n_counters = models.PositiveBigIntegerField(default=0)
    from_samples = models.JSONField(default=dict)
    hours = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["invoice", "starts_at", "ends_at", "first", "bronze_version"],
                name="sample_reading_once",
            ),
            models.CheckConstraint(
                name="sample_reading_forward", condition=Q(ends_at__gt=models.F("starts_at"))
            ),
        ]


class ReadRow(models.Model):
    """One sample, or one counter with the values it reached. Key: (reading, kind, position).

    ``position`` counts the samples, or the counters, of the whole part from 0.
    """

    class Kind(models.TextChoices):
        SAMPLE = "sample"
        COUNTER = "counter"

    reading = models.ForeignKey(SampleReading, on_delete=models.CASCADE, related_name="rows")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    position = models.PositiveBigIntegerField()
    values = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reading", "kind", "position"], name="read_row_once")
        ]
