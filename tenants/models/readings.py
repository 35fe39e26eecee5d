"""The newest readings of addresses, and their history. Metering writes them, pages and API read.

``tenants.live_readings`` and ``tenants.reading_history`` read them; ``workers.metering.live_rows``
writes. Nothing here is billed, and a lost row costs no more than a gap in a chart.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenants.models.address import Address
from tenants.models.address_space import AddressSpace


class SpaceReading(models.Model):
    """When the instances of a space answered the sampler last: {instance: ISO 8601 instant}."""

    space = models.OneToOneField(AddressSpace, on_delete=models.CASCADE, primary_key=True)
    answered = models.JSONField(default=dict)


class AddressReading(models.Model):
    """The newest values of one address. It is written only when a value changes.

    * ``parts``: {instance: {name of a gauge: value}}. An instance that does not answer keeps its
      last part. ``tenants.live_readings`` adds the parts up.
    * ``messages_in``, ``messages_out``: all messages since the first reading.
    * ``in_per_second``, ``out_per_second``: between the last two samples; null before the second.
    * ``minute_…``, ``quarter_…``: messages in the running minute and quarter of an hour, which are
      not in the history yet; the time is null while nothing has changed in it.
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
    """One address and period: arrays with a value for each step in which a value changed.

    ``depth``, ``stored_bytes`` and ``consumers`` are those at the end of the step. A step that is
    null or beyond the end of the array had no messages and the values of the step before it.
    ``last_step`` is the position, from 1, that was written last.
    """

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
    """One hour of an address, by minute. The table is partitioned by day."""


class AddressQuarters(_History):
    """One UTC day of an address, by quarter of an hour. The table is partitioned by day."""
