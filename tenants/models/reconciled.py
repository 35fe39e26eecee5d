"""The base of the models that the workers reconcile: phase, generations, conditions, deletion."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from controlplane.core.models import Timestamped
from controlplane.core.phases import Phase


class Reconciled(Timestamped):
    """The abstract base of rows that hold desired state, with what the workers observed of it.

    ``generation`` rises with each change of desired state. ``observed_generation`` is the last
    generation that the workers have applied, or have found that they cannot apply. An action
    requests the deletion by setting ``deletion_requested_at``; ``deleted_at`` is when the workers
    had finished it. A deleted row stays, because its usage is still billed.
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
    """Return the check constraints for the columns of ``Reconciled``, for the Meta of a subclass.

    The name of each begins with ``model``, because names are unique in the database.
    """
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
