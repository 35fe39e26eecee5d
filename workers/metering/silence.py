"""Record which spaces have an instance that does not answer, and make their reconcile passes due.

So a dead broker or router shows in the status of its space within about one sampling cycle.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from controlplane.core.phases import Phase
from tenants.models import AddressSpace
from workers.metering.sampling import Sampled


def record(cycle: Iterable[Sampled], now: datetime) -> Sequence[str]:
    """Store since when an instance of each space is silent; return the spaces (ids) to reconcile.

    Those are spaces that have become silent, spaces that are silent and still Active, and spaces
    that answer again. The call makes their reconcile passes due too; the caller enqueues them. The
    pass that follows makes a silent space not Active, so a space that stays down is not returned
    again in each cycle. Idempotent.
    """
    results = list(cycle)
    silent = [one.space_id for one in results if one.silent]
    answering = [one.space_id for one in results if one.reached and not one.silent]
    fell = AddressSpace.objects.filter(
        Q(silent_since__isnull=True) | Q(phase=Phase.ACTIVE), id__in=silent
    )
    back = AddressSpace.objects.filter(id__in=answering, silent_since__isnull=False)
    due = [*fell.values_list("id", flat=True), *back.values_list("id", flat=True)]
    # ``next_attempt_at`` too, so that a lost message or a pass that runs now does no harm.
    fell.update(silent_since=Coalesce(F("silent_since"), now), next_attempt_at=now)
    back.update(silent_since=None, next_attempt_at=now)
    return due
