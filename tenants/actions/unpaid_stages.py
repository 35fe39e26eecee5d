"""Changes what unpaid invoices keep a tenant from. Only dunning calls it.

``limited``: its clients cannot send. ``suspended``: they cannot connect either, and members can
change little; messages, addresses and users stay. A suspension by staff is independent of these
stages.
"""

from django.db import transaction

from controlplane.core import audit, enqueue
from controlplane.core.audit import SYSTEM
from tenants import admission, queries
from tenants.actions import restrictions, suspensions, tenants
from tenants.models import Tenant, UnpaidStage

_REASON = "invoices are unpaid"


def move(*, tenant: Tenant, stage: UnpaidStage) -> Tenant:
    """Set the stage, and restrict the tenant's spaces by it; return the tenant. Idempotent.

    Going back lifts nothing here: the enforcement of quotas, which starts after the commit, lets
    clients connect and send again, unless something else prevents it.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        before = locked.unpaid_stage
        if before != stage:
            locked.unpaid_stage = stage
            locked.save(update_fields=["unpaid_stage", "updated_at"])
            audit.record(
                SYSTEM,
                "tenant.unpaid",
                tenants.subject(locked),
                before={"stage": before},
                after={"stage": stage.value},
            )
            enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
        # Also if the stage is the same: a space that was created since may have none of these.
        if stage != UnpaidStage.NONE:
            suspensions.withdraw_send(locked, SYSTEM, _REASON)
        if stage == UnpaidStage.SUSPENDED:
            for space in queries.list_spaces(locked):
                restrictions.refuse_connections(space=space, by=SYSTEM, reason=_REASON)
    return locked
