"""The model of a deleted space's volumes that the tenant chose to keep with their messages."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class KeptVolumes(Timestamped):
    """A row that makes the volumes of a space's brokers survive the space's deletion.

    Key: the space. The request to delete the space creates the row. ``released_at`` is when an
    operator, or the erasure of the tenant, released the volumes for deletion. ``gone_at`` is when
    the workers had deleted them. Both are null before.
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
