"""The base of the models that the workers reconcile: phase, generations, conditions, deletion."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from controlplane.core.models import Timestamped
from controlplane.core.phases import Phase


class Reconciled(Timestamped):
    """Desired state with its observed state.

    ``generation`` rises with each change of desired state. ``observed_generation`` is the last one
    that the workers have applied, or have found that they cannot apply. Setting
    ``deletion_requested_at`` requests the deletion; ``deleted_at`` is when it was finished. A
    deleted row stays, because its usage is still billed.
    """

    phase = models.CharField(max_length=12, choices=Phase.choices, default=Phase.PENDING)
    generation = models.BigIntegerField(default=1)
    observed_generation = models.BigIntegerField(default=0)
    # A list of objects, as on Kubernetes (``controlplane.core.phases.Condition``). The status
    # writer of the workers replaces it as a whole.
    conditions = models.JSONField(default=list)
    active_since = models.DateTimeField(null=True)  # the first time Active: billed hours begin
    deletion_requested_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


def reconciled_constraints(model: str) -> list[models.CheckConstraint]:
    """Return the constraints of ``Reconciled``, each with ``model`` at the start of its name."""
    conditions: dict[str, Any] = {
        "phase_known": Q(phase__in=Phase.values),
        # A worker can only have applied what was requested before.
        "observed_within_generation": Q(observed_generation__lte=F("generation")),
        "deleted_was_requested": Q(deleted_at__isnull=True)
        | Q(deletion_requested_at__isnull=False),
    }
    return [
        models.CheckConstraint(name=f"{model}_{name}", condition=condition)
        for name, condition in conditions.items()
    ]
