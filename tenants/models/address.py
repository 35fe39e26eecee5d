"""An address of a space and where it is placed."""

from django.db import models
from django.db.models import F, Q

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
    """One address. ``address`` is unique in its space until it is deleted.

    A legal address matches ``^[^\\s#*+$:][^\\s#*+]{0,254}$`` and has no ``::`` and no reserved
    prefix. A null setting means the plan's value; zero is a value.
    ``probed_at`` is the last time that a probe message passed.
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
    # Set while the address is being deleted, once its counters were read for the last time.
    last_sampled = models.BooleanField(default=False)

    class Meta:
        indexes = [
            # A pass over a change finds it here, whatever the number of addresses of the space.
            models.Index(
                fields=["space"],
                condition=Q(deleted_at__isnull=True, generation__gt=F("observed_generation")),
                name="address_changed",
            )
        ]
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
    """One partition of an address on one broker, or on the routers if ``broker`` is null.

    Credits are in thousandths. Admission counts them in every state.
    Key: (address, broker) and (address, partition, state=Active).
    """

    class State(models.TextChoices):
        ACTIVE = "Active"
        MIGRATING = "Migrating"  # accepts and delivers messages until its successor is ready
        DRAINING = "Draining"  # only delivers what it has

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
            # Nulls count as equal: an address has at most one placement on the routers.
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
