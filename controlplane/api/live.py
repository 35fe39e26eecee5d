"""The field ``live`` of an address in the API: its newest reading."""

from collections.abc import Sequence

from django.utils import timezone
from rest_framework import serializers

from tenants import live_readings
from tenants.live_readings import LiveReading
from tenants.models import Address, AddressSpace


class LiveSerializer(serializers.Serializer[LiveReading]):
    """The newest reading of an address.

    A value is null if no broker or router reports it. Rates are null before the second sample.
    """

    as_of = serializers.DateTimeField(help_text="When the values were read.")
    is_stale = serializers.SerializerMethodField(
        help_text="Whether `as_of` is so long ago that a broker or router of the address does not "
        "answer. The rates then say nothing about the present.",
    )
    depth = serializers.IntegerField(
        source="gauges.depth", allow_null=True, help_text="Messages stored now."
    )
    stored_bytes = serializers.IntegerField(source="gauges.stored_bytes", allow_null=True)
    delivering = serializers.IntegerField(
        source="gauges.delivering",
        allow_null=True,
        help_text="Messages sent to a receiver that has not acknowledged them yet.",
    )
    consumers = serializers.IntegerField(source="gauges.consumers", allow_null=True)
    producers = serializers.IntegerField(source="gauges.producers", allow_null=True)
    oldest_seconds = serializers.IntegerField(
        allow_null=True,
        help_text="Age of the oldest stored message, from the creation time that its sender set. "
        "Null if the address stores no message, or if that message has no creation time.",
    )
    expired = serializers.IntegerField(
        source="gauges.expired", allow_null=True, help_text="Since the last start of its brokers."
    )
    dead_lettered = serializers.IntegerField(
        source="gauges.dead_lettered",
        allow_null=True,
        help_text="Given up after the last delivery attempt, since the last start of its brokers.",
    )
    messages_in = serializers.IntegerField(help_text="Since the first reading; not billed.")
    messages_out = serializers.IntegerField(help_text="Since the first reading; not billed.")
    in_per_second = serializers.FloatField(
        allow_null=True, help_text="Between the last two samples."
    )
    out_per_second = serializers.FloatField(allow_null=True)

    def get_is_stale(self, reading: LiveReading) -> bool:
        """Return the value of ``is_stale``."""
        return reading.is_stale(timezone.now())


def attach(space: AddressSpace, addresses: Sequence[Address]) -> Sequence[Address]:
    """Set the attribute ``live`` of each of ``addresses``, which are of ``space``; return them.

    ``live`` is the newest reading as a ``LiveReading``. It is None if no instance reports the
    address, for example before the first reading. Takes at most two queries.
    """
    found = live_readings.of_addresses(space, addresses)
    for address in addresses:
        address.live = found.get(address.id)  # type: ignore[attr-defined]
    return addresses
