"""What a deleted space leaves behind when its owner asks for that: volumes with messages."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class KeptVolumes(Timestamped):
    """The volumes of a deleted space's brokers. Key: the space.

    Kept from the deletion on until an operator releases them (``released_at``); ``gone_at`` is when
    the workers have removed them.
    """

    space = models.OneToOneField(
        "tenants.AddressSpace", on_delete=models.PROTECT, related_name="kept_volumes"
    )
    released_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="kept_volumes_released_before_gone",
                condition=Q(gone_at__isnull=True) | Q(released_at__isnull=False),
            )
        ]
