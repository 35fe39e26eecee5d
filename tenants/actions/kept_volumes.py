"""Release the volumes that a deleted space left behind: the operator's word, and the last one."""

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, nudge
from controlplane.core.audit import Actor
from controlplane.core.errors import Missing
from tenants.actions import address_spaces
from tenants.models import KeptVolumes


@transaction.atomic
def release(*, space_id: str, by: Actor) -> KeptVolumes:
    """Let the volumes of a deleted space go, with every message in them. Asking twice is one.

    Raises:
        Missing: no volumes are kept for such a space.
    """
    kept = (
        KeptVolumes.objects.select_for_update(of=("self",))
        .select_related("space")
        .filter(space_id=space_id, space__deleted_at__isnull=False)
        .first()
    )
    if kept is None:
        raise Missing(
            f"No volumes are kept for a deleted space {space_id[:40]!r}: list those that are.",
            code="kept_volumes.missing",
        )
    if kept.released_at is None:
        kept.released_at = timezone.now()
        kept.save(update_fields=["released_at", "updated_at"])
        audit.record(by, "kept_volumes.release", address_spaces.subject(kept.space))
        nudge.after_commit("workers.release_volumes")
    return kept
