"""Changes what unpaid invoices keep a tenant from. Only dunning calls it.

``limited``: its clients cannot send. ``suspended``: they cannot connect either, and nothing can be
changed; messages, addresses and users stay. A suspension by staff is another one, and independent.
"""

from django.db import transaction

from controlplane.core import audit, enqueue
from controlplane.core.audit import SYSTEM
from tenants import admission, queries
from tenants.actions import address_spaces, suspensions, tenants
from tenants.models import AddressSpace, Tenant, UnpaidStage

_REASON = "invoices are unpaid"


def move(*, tenant: Tenant, stage: UnpaidStage) -> Tenant:
    """Set the stage, and make the tenant's spaces agree with it; return the tenant. Idempotent.

    Going back restores logins at once. The enforcement of quotas, which starts after the commit,
    lets clients send again, unless something else prevents it.
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
        if stage != UnpaidStage.NONE:
            suspensions.withdraw_send(locked, SYSTEM, _REASON)
        elif before != stage:
            enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
        for space in queries.list_spaces(locked):
            _refuse(space, refused=stage == UnpaidStage.SUSPENDED)
    return locked


def _refuse(space: AddressSpace, *, refused: bool) -> None:
    """Refuse the logins of all messaging users of the space, or admit them again."""
    locked = address_spaces.lock(space)
    if locked.connections_refused == refused or locked.deletion_requested_at is not None:
        return
    locked.connections_refused = refused
    locked.generation += 1
    # Disconnects the clients that are logged in.
    locked.logins_generation = locked.generation
    locked.save(
        update_fields=["connections_refused", "generation", "logins_generation", "updated_at"]
    )
    action = "refuse_connections" if refused else "admit_connections"
    audit.record(SYSTEM, f"address_space.{action}", address_spaces.subject(locked), reason=_REASON)
    address_spaces.enqueue_reconcile(locked)
