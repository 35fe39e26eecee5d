"""Models of the newest readings of addresses, and of their history.

``workers.metering.live_rows`` writes the rows. API and portal read them through
``tenants.live_readings`` and ``tenants.reading_history``. Alarms read the newest readings. Nothing
here is billed, and a lost row of history costs no more than a gap in a chart.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenants.models.address import Address
from tenants.models.address_space import AddressSpace


class SpaceReading(models.Model):
    """When each instance of a space last answered the sampler: {instance: ISO 8601 instant}.

    Instances that no longer exist are removed.
    """

    space = models.OneToOneField(AddressSpace, on_delete=models.CASCADE, primary_key=True)
    answered = models.JSONField(default=dict)


class AddressReading(models.Model):
    """The newest values of one address. The row is written only when one of them changes.

    * ``parts``: {instance: {name: value}}: gauges such as ``depth``, the counters ``arrived`` and
      ``left``, and ``boot_id``. An instance that does not answer keeps its last part.
      ``tenants.live_readings`` adds the gauges up.
    * ``messages_in``, ``messages_out``: all messages since the first reading.
    * ``in_per_second``, ``out_per_second``: between the last two samples; null before the second.
    * ``minute_…``, ``quarter_…``: start and messages of the running minute and quarter of an hour,
      which are not in the history yet. The start is null while nothing has changed in this time.
    """

    address = models.OneToOneField(
        Address, on_delete=models.CASCADE, primary_key=True, related_name="reading"
    )
    parts = models.JSONField(default=dict)
    messages_in = models.BigIntegerField(default=0)
    messages_out = models.BigIntegerField(default=0)
    in_per_second = models.FloatField(null=True)
    out_per_second = models.FloatField(null=True)
    minute_at = models.DateTimeField(null=True)
    minute_in = models.BigIntegerField(default=0)
    minute_out = models.BigIntegerField(default=0)
    quarter_at = models.DateTimeField(null=True)
    quarter_in = models.BigIntegerField(default=0)
    quarter_out = models.BigIntegerField(default=0)


class _History(models.Model):
    """The abstract base of the tables of history. A row is one address and period, by step.

    Key: (address, starts_at). Each array has one position for each step of the period.
    ``messages_in`` and ``messages_out`` came during the step; ``depth``, ``stored_bytes`` and
    ``consumers`` are those at its end. A step that is null or beyond the end of the array had no
    messages and the values of the step before it. ``last_step`` is the position, from 1, that was
    written last.
    """

    # PostgreSQL wants the column of the partitions, ``starts_at``, in the primary key.
    pk = models.CompositePrimaryKey("address_id", "starts_at")
    address = models.ForeignKey(Address, on_delete=models.CASCADE, related_name="+")
    starts_at = models.DateTimeField()
    last_step = models.SmallIntegerField()
    messages_in = ArrayField(models.BigIntegerField(null=True))
    messages_out = ArrayField(models.BigIntegerField(null=True))
    depth = ArrayField(models.BigIntegerField(null=True))
    stored_bytes = ArrayField(models.BigIntegerField(null=True))
    consumers = ArrayField(models.BigIntegerField(null=True))

    class Meta:
        abstract = True


class AddressMinutes(_History):
    """A row is one hour of an address, by minute. Partitioned by day."""


class AddressQuarters(_History):
    """A row is one UTC day of an address, by quarter of an hour. Partitioned by day."""
