"""An address of a space and where it is placed."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models.address_space import AddressSpace, Broker
from tenants.models.reconciled import Reconciled, reconciled_constraints


class AddressType(models.TextChoices):
    """What an address promises to a client (design of the messaging plane, section 2)."""

    QUEUE = "queue"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    ANYCAST = "anycast"
    MULTICAST = "multicast"
    DEADLETTER = "deadletter"


class Address(Reconciled):
    """One address. ``address`` is unique in its space while not deleted.

    Legal: matches ``^[^\\s#*+$:][^\\s#*+]{0,254}$``, has no ``::``, no reserved prefix.
    Null settings mean "the plan's value"; zero is a value.
    ``probed_at`` is the last time a probe message went through.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.address_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="addresses")
    address = models.CharField(max_length=255)
    type = models.CharField(max_length=12, choices=AddressType.choices)
    address_plan = models.ForeignKey(
        "plans.AddressPlan", on_delete=models.PROTECT, related_name="addresses"
    )
    topic = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="subscriptions"
    )
    message_ttl_ms = models.BigIntegerField(null=True)
    max_delivery_attempts = models.IntegerField(null=True)
    redelivery_delay_ms = models.BigIntegerField(null=True)
    max_bytes = models.BigIntegerField(null=True)
    dead_letter = models.CharField(max_length=255, blank=True)
    probed_at = models.DateTimeField(null=True)
    last_sampled = models.BooleanField(default=False)  # the finalizer took its last sample

    class Meta:
        constraints = [
            *reconciled_constraints("address"),
            models.UniqueConstraint(
                fields=["space", "address"],
                condition=Q(deleted_at__isnull=True),
                name="address_once",
            ),
            models.CheckConstraint(
                name="address_type_known", condition=Q(type__in=AddressType.values)
            ),
            models.CheckConstraint(
                name="address_legal", condition=Q(address__regex=r"^[^\s#*+$:][^\s#*+]{0,254}$")
            ),
            models.CheckConstraint(name="address_no_fqqn", condition=~Q(address__contains="::")),
            models.CheckConstraint(
                name="subscription_has_topic",
                condition=Q(type="subscription", topic__isnull=False)
                | (~Q(type="subscription") & Q(topic__isnull=True)),
            ),
        ]


class Placement(Timestamped):
    """One partition of an address on one broker (or on the routers: ``broker`` null).

    Credits are thousandths and are what admission counts, Migrating and Draining included.
    Key: (address, broker) and (address, partition, state=Active).
    """

    class State(models.TextChoices):
        ACTIVE = "Active"
        MIGRATING = "Migrating"  # takes and gives until its successor is ready
        DRAINING = "Draining"  # gives, takes nothing

    address = models.ForeignKey(Address, on_delete=models.CASCADE, related_name="placements")
    broker = models.ForeignKey(
        Broker, on_delete=models.PROTECT, null=True, related_name="placements"
    )
    partition = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    router_credit = models.PositiveIntegerField()
    broker_credit = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["address", "broker"], name="placement_once", nulls_distinct=False
            ),
            models.UniqueConstraint(
                fields=["address", "partition"],
                condition=Q(state="Active"),
                name="placement_partition_once",
            ),
            models.CheckConstraint(
                name="placement_state_known",
                condition=Q(state__in=["Active", "Migrating", "Draining"]),
            ),
        ]
