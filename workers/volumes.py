"""Delete the kept volumes of deleted spaces, once an operator has released them for deletion.

``KeptVolumes`` has a row for each deleted space whose volumes were kept. Level-triggered: each call
reads which rows are released (``released_at``) and not deleted yet (``gone_at``).
"""

import structlog
from django.utils import timezone

from tenants.models import KeptVolumes
from workers.infra import names
from workers.infra.base import Infra, InfraError, Namespace

logger = structlog.get_logger(__name__)


def remove_released(infra: Infra) -> None:
    """Delete the namespace, with its volumes, of each space whose kept volumes are released.

    ``KeptVolumes.gone_at`` is set once the namespace is gone. If the platform refuses, which is
    logged, or has not finished, the row is left to the next call. Idempotent.
    """
    waiting = KeptVolumes.objects.filter(released_at__isnull=False, gone_at__isnull=True)
    for kept in waiting.select_related("space"):
        space = kept.space
        name = names.namespace(space.tenant_id, space.id, space.name)
        try:
            with infra.open(Namespace(name, space.tenant_id, space.id)) as session:
                gone = session.delete_namespace()
        except InfraError as error:
            logger.warning(
                "released volumes cannot be removed yet", space_id=space.id, reason=error.reason
            )
            # The volumes of the other spaces do not wait for this one.
            continue
        if gone:
            KeptVolumes.objects.filter(pk=kept.pk).update(gone_at=timezone.now())
