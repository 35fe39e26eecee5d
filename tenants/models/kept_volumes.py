"""The volumes of a deleted space whose owner chose to keep its stored messages."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class KeptVolumes(Timestamped):
    """The fact that the volumes of a space's brokers survive its deletion. Key: the space.

    The request to delete the space creates the row. ``released_at`` is when an operator released
    the volumes, ``gone_at`` when the workers had deleted them; null before.
    """

    space = models.OneToOneField(
        "tenants.AddressSpace", on_delete=models.PROTECT, related_name="kept_volumes"
    )
    released_at = models.DateTimeField(null=True)
    # The row stays as proof of when the messages were destroyed.
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="kept_volumes_released_before_gone",
                condition=Q(gone_at__isnull=True) | Q(released_at__isnull=False),
            )
        ]
