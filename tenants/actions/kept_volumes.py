"""Release the kept volumes of a deleted space for deletion."""

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Missing
from tenants.actions import address_spaces
from tenants.models import KeptVolumes


@transaction.atomic
def release(*, space_id: str, by: Actor) -> KeptVolumes:
    """Release the kept volumes of a deleted space; return their row. Idempotent.

    The workers then delete the volumes with all messages in them. Only a space whose deletion is
    complete counts as deleted.

    Raises:
        Missing: no volumes are kept for a deleted space of this id.
    """
    kept = (
        KeptVolumes.objects.select_for_update(of=("self",))
        .select_related("space")
        # Until the deletion is complete, the brokers may still use the volumes.
        .filter(space_id=space_id, space__deleted_at__isnull=False)
        .first()
    )
    if kept is None:
        raise Missing(
            f"No volumes are kept for a deleted space {space_id[:40]!r}: list the kept volumes.",
            code="kept_volumes.missing",
        )
    if kept.released_at is None:
        kept.released_at = timezone.now()
        kept.save(update_fields=["released_at", "updated_at"])
        audit.record(by, "kept_volumes.release", address_spaces.subject(kept.space))
        enqueue.after_commit("workers.release_volumes")
    return kept
