"""Models of the addresses of a space, and of their placements on brokers or routers."""

from django.db import models
from django.db.models import F, Q

from controlplane.core import address_types, ids
from controlplane.core.address_types import AddressSettings
from controlplane.core.models import Timestamped
from controlplane.core.setting_values import Width
from tenants.models.address_space import AddressSpace, Broker
from tenants.models.reconciled import Reconciled, reconciled_constraints


class AddressType(models.TextChoices):
    """The type of an address, which decides who gets a message (docs/messaging.md)."""

    QUEUE = "queue"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    ANYCAST = "anycast"
    MULTICAST = "multicast"
    DEADLETTER = "deadletter"


class Address(Reconciled):
    """One address of a space, such as a queue. Its name is the column ``address``.

    The name is unique in the space until the address is deleted; ``tenants.address_rules`` says
    which names are legal. Each setting of the address is a column (``topic`` is a foreign key).
    The columns of numbers and texts are generated below from ``controlplane.core.address_types``,
    so a new setting there needs no more here than a migration. ``dead_letter`` and ``expiry`` are
    names of other addresses. ``labels`` is {key: value} of ``tenants.label_rules``. Labels change
    nothing on brokers and routers. ``probed_at`` is the last time that a probe passed through an
    address of the same kind on the same instances. Probes never use the address itself.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.address_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="addresses")
    address = models.CharField(max_length=255)
    type = models.CharField(max_length=12, choices=AddressType.choices)
    address_plan = models.ForeignKey(
        "plans.AddressPlan", on_delete=models.PROTECT, related_name="addresses"
    )
    # PROTECT: a topic must outlive its subscriptions, because they are queues bound to it.
    topic = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="subscriptions"
    )
    dead_letter = models.CharField(max_length=255, blank=True)
    expiry = models.CharField(max_length=255, blank=True, default="", db_default="")
    probed_at = models.DateTimeField(null=True)
    labels = models.JSONField(default=dict, db_default={})
    # Set while the address is being deleted, once its counters were read for the last time.
    last_sampled = models.BooleanField(default=False)

    class Meta:
        indexes = [
            # Lets a partial pass find the changed addresses at a cost that does not depend on the
            # number of addresses of the space.
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
            # ``address_rules`` checks this too. The database checks it again, because routers and
            # brokers take names literally: a bad name that another program wrote must not reach
            # them.
            models.CheckConstraint(
                name="address_legal", condition=Q(address__regex=r"^[^\s#*+$:][^\s#*+]{0,254}$")
            ),
            # "::" is the broker's fully qualified queue name: topic and queue.
            models.CheckConstraint(name="address_no_fqqn", condition=~Q(address__contains="::")),
            models.CheckConstraint(
                name="subscription_has_topic",
                condition=Q(type="subscription", topic__isnull=False)
                | (~Q(type="subscription") & Q(topic__isnull=True)),
            ),
        ]

    @property
    def settings(self) -> AddressSettings:
        """The settings of this address, without those of its plan.

        None means the plan's value, an empty text that the address has none. Queries the row of the
        topic unless that is loaded.
        """
        columns = {name: getattr(self, name) for name in AddressSettings().columns()}
        return AddressSettings(**columns, topic=self.topic.address if self.topic else "")


for _name, _number in address_types.numbers().items():
    _column = models.IntegerField if _number.width is Width.INT_32 else models.BigIntegerField
    Address.add_to_class(_name, _column(null=True))
for _name, _text in address_types.texts().items():
    # ``db_default``: the previous version does not write it while an installation is upgraded.
    Address.add_to_class(
        _name,
        models.CharField(max_length=_text.longest, blank=True, default="", db_default=""),
    )


class Placement(Timestamped):
    """Places one partition of an address on one broker, or on the routers if ``broker`` is null.

    The credits that the partition takes are in thousandths; admission counts them in every state.
    An address has at most one placement per broker, and at most one Active placement per partition.
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
            # Null brokers count as equal: an address has at most one placement on the routers.
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
