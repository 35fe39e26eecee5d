"""Create and delete address spaces, lock their rows, and make them due for a reconcile pass."""

import re
from collections.abc import Sequence

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Denied, Invalid
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.catalog import publishing
from plans.models import SpacePlan
from plans.quotas.resources import Resource
from tenants import admission, rollouts, space_types
from tenants.models import (
    Address,
    AddressSpace,
    Broker,
    KeptVolumes,
    MessagingUser,
    SpaceType,
    Tenant,
)

SUBJECT = "address_space"
# A label of DNS, because it becomes a part of host names.
_LEGAL_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class SpaceExists(Conflict):
    """The tenant already has a space of this name."""

    code = "address_space.exists"


class SpaceTerminating(Conflict):
    """The space is being deleted or is deleted, so nothing in it can be created or changed."""

    code = "address_space.terminating"


class GenerationChanged(Conflict):
    """The resource has changed since the caller read it (the API's ``If-Match``)."""

    status = 412
    code = "generation.changed"


def create(
    *, tenant: Tenant, name: str, type: str, space_plan: str, by: Actor
) -> tuple[AddressSpace, Operation]:
    """Store a new space, for which the workers then create routers and brokers.

    Returns the space and the operation to poll. ``space_plan`` is the key of the plan. A brokered
    space also gets the row of its only broker.

    Raises:
        Invalid: name or type is wrong, or the plan is for another type. TypeNotOffered: the
        installation cannot run the type. Invalid: no such plan. Denied: the tenant's plan does not
        include it. NoPlan: the tenant has none. SpaceExists: the name is taken. QuotaExceeded: the
        tenant may have no more spaces or brokers.
    """
    _check_name_and_type(name, type)
    space_types.check(type)
    plan = publishing.space_plan(space_plan)
    check_type(type, plan)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        # Under the lock: a change of the tenant's plan checks its spaces under this lock too.
        check_allowed(locked, plan)
        _check_free(locked, name)
        admission.check(locked, Resource.SPACES)
        space = AddressSpace.objects.create(
            tenant=locked,
            name=name,
            type=type,
            space_plan=plan,
            release=rollouts.release_of_new_spaces(),
        )
        if type == SpaceType.BROKERED:
            # Clients connect to the broker itself, so it runs before the first address.
            admission.check(locked, Resource.BROKERS)
            Broker.objects.create(space=space, ordinal=0)
        operation = begin(space, f"{SUBJECT}.create", by)
        after = {"type": type, "plan": plan.key}
        audit.record(by, f"{SUBJECT}.create", subject(space), after=after)
    return space, operation


def delete(*, space: AddressSpace, by: Actor, keep_volumes: bool = False) -> Operation:
    """Request the deletion of the space with all its addresses and users.

    Returns the operation to poll. The stored messages are deleted too. With ``keep_volumes`` they
    stay until an operator, or the erasure of the tenant, releases the volumes. Idempotent: a
    repeated request returns the operation of the first one and ignores ``keep_volumes``.
    """
    with transaction.atomic():
        locked = lock(space)
        if locked.deletion_requested_at is not None:
            return deletion_of(locked.pk)
        _request_deletion(locked)
        if keep_volumes:
            KeptVolumes.objects.create(space=locked)
        operation = begin(locked, f"{SUBJECT}.delete", by)
        kept = {"volumes": "kept" if keep_volumes else "deleted"}
        audit.record(by, f"{SUBJECT}.delete", subject(locked), after=kept)
    return operation


def lock(space: AddressSpace) -> AddressSpace:
    """Read the space's row again and lock it until the transaction ends; return it.

    The lock is ``FOR NO KEY UPDATE``: other transactions can still insert rows that refer to the
    space.
    """
    return (
        AddressSpace.objects.select_for_update(of=("self",), no_key=True)
        .select_related("tenant", "space_plan")
        .get(pk=space.pk)
    )


def lock_for_change(space: AddressSpace) -> AddressSpace:
    """Lock the row of a space as ``lock`` does, and refuse one that is being deleted or is deleted.

    Raises:
        SpaceTerminating: somebody has requested the deletion of the space.
    """
    locked = lock(space)
    if locked.deletion_requested_at is not None:
        raise SpaceTerminating(
            f"The space {locked.name!r} is being deleted and cannot be changed. Use another one."
        )
    return locked


def check_generation(row: AddressSpace | Address | MessagingUser, expected: int | None) -> None:
    """Check that ``row`` has the generation ``expected``; None skips the check.

    The caller has read ``row`` under the lock of the space's row.

    Raises:
        GenerationChanged: ``row`` has another generation.
    """
    if expected is not None and row.generation != expected:
        raise GenerationChanged(
            "It changed since you read it: read it again, then repeat your change.",
            generation=row.generation,
        )


def deletion_of(*subject_ids: str) -> Operation:
    """Return the newest operation, running or ended, that deletes one of ``subject_ids``.

    For an address or a user, pass its own id and the id of its space, because the deletion of a
    space deletes its addresses and users.

    Raises:
        Operation.DoesNotExist: there is none.
    """
    kinds = (f"{SUBJECT}.delete", "address.delete", "messaging_user.revoke")
    return Operation.objects.filter(subject_id__in=subject_ids, kind__in=kinds).latest(
        "created_at", "id"
    )


def enqueue_reconcile(space: AddressSpace) -> None:
    """Make the space due for a reconcile pass now, and enqueue the pass after the commit.

    If the Celery task is lost, a periodic task finds the due space by its row.
    """
    wanted = {"next_attempt_at": timezone.now(), "waiting_since": None}
    AddressSpace.objects.filter(pk=space.pk).update(**wanted)
    enqueue.after_commit("workers.reconcile_space", space_id=space.pk)


@transaction.atomic
def retry(*, space: AddressSpace, by: Actor) -> None:
    """Make the space due for a full pass now, whatever it waits for; for staff. Idempotent."""
    # Without the time of the last full pass, the next pass is a full one.
    AddressSpace.objects.filter(pk=space.pk).update(attempts=0, last_full_pass_at=None)
    audit.record(by, f"{SUBJECT}.retry", subject(space))
    enqueue_reconcile(space)


def subject(space: AddressSpace) -> audit.Subject:
    """Return the subject of audit events about the space itself."""
    return audit.Subject(SUBJECT, space.pk, space.name, space.tenant_id)


def _check_name_and_type(name: str, type: str) -> None:
    wrong: dict[str, list[str]] = {}
    if not _LEGAL_NAME.fullmatch(name):
        wrong["name"] = [
            "1 to 63 characters of a-z, 0-9 and -, with a letter or digit at both ends."
        ]
    if type not in SpaceType.values:
        wrong["type"] = [f"One of: {', '.join(SpaceType.values)}."]
    if wrong:
        raise Invalid(
            "The space cannot be created with these values.", code=f"{SUBJECT}.invalid", **wrong
        )


def check_type(type: str, plan: SpacePlan) -> None:
    """Check that ``plan`` is a plan for spaces of ``type``.

    Raises:
        Invalid: ``plan`` is for another type of space.
    """
    if plan.space_type != type:
        raise Invalid(
            f"The plan {plan.key!r} is for {plan.space_type} spaces; choose one for {type} spaces.",
            code=f"{SUBJECT}.plan_mismatch",
            plan=[f"Not a plan for {type} spaces."],
        )


def check_allowed(tenant: Tenant, plan: SpacePlan) -> None:
    """Check that the tenant's own plan includes the space plan ``plan``, whatever its version.

    Raises:
        Denied: the tenant's plan does not include it. NoPlan: the tenant has no plan.
    """
    allowed = admission.plan_of(tenant).space_plans
    if plan.key not in allowed:
        raise Denied(
            f"Your plan does not include {plan.key!r}; it includes: {', '.join(allowed)}. Move to "
            f"a larger plan to use it.",
            code="space_plan.not_included",
            allowed=list(allowed),
        )


def _check_free(tenant: Tenant, name: str) -> None:
    """Raise SpaceExists if a space of the tenant has the name, even one that is being deleted.

    The caller holds the lock of the tenant's row, so that a free name stays free until the commit.
    """
    taken = tenant.spaces.filter(name=name, deleted_at__isnull=True).first()
    if taken is not None:
        leaving = taken.deletion_requested_at is not None
        hint = "It is being deleted: try again when it is gone." if leaving else "Choose another."
        raise SpaceExists(f"There is a space named {name!r} already. {hint}")


def begin(
    space: AddressSpace, kind: str, by: Actor, *, restarts: Sequence[str] | None = None
) -> Operation:
    """Begin an operation ``kind`` on the space, and make the space due for a reconcile pass.

    Returns the operation. It succeeds when the workers have applied the present generation of
    ``space``. Call it in the transaction of the change. ``by``, ``restarts``: as
    ``operations.begin``.
    """
    operation = operations.begin(
        tenant_id=space.tenant_id,
        kind=kind,
        subject=(SUBJECT, space.pk, space.name),
        generation=space.generation,
        by=by,
        restarts=restarts,
    )
    enqueue_reconcile(space)
    return operation


def _request_deletion(space: AddressSpace) -> None:
    now = timezone.now()
    wanted = {
        "deletion_requested_at": now,
        "generation": F("generation") + 1,
        "phase": Phase.TERMINATING,
        "updated_at": now,
    }
    # Addresses and users that are being deleted already keep their own time and generation.
    children = {"deletion_requested_at__isnull": True}
    space.addresses.filter(**children).update(**wanted)
    space.users.filter(**children).update(**wanted)
    AddressSpace.objects.filter(pk=space.pk).update(**wanted)
    # ``generation`` was raised in SQL; the operation needs its new value.
    space.refresh_from_db()
