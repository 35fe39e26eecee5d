"""Create, change and revoke the messaging users of a space.

A password is never stored: the row has verifiers of it (``tenants.verifiers``).
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.quotas.resources import Resource
from tenants import admission, configuration_size, user_rules, verifiers
from tenants.actions import address_spaces
from tenants.models import AddressSpace, MessagingUser

SUBJECT = "messaging_user"


class UserExists(Conflict):
    """The space already has a user of this name."""

    code = "messaging_user.exists"


class UserTerminating(Conflict):
    """The user is being revoked, so it cannot change."""

    code = "messaging_user.terminating"


def create(
    *, space: AddressSpace, name: str, password: str, permissions: Sequence[Any], by: Actor
) -> tuple[MessagingUser, Operation]:
    """Create a messaging user; return the user and the operation to poll.

    ``permissions``: a list of {"addresses": [pattern], "operations": ["send"|"recv"]}. The user can
    log in when the workers have applied the change.

    Raises:
        Invalid: name, password or permissions are wrong. UserExists: the name is taken.
        ConfigurationFull: the permissions do not fit into the broker's file.
        NoPlan: the tenant has no plan. QuotaExceeded: a limit, which the message names, would be
        exceeded. SpaceTerminating: the space is being deleted.
    """
    user_rules.check_name(name)
    user_rules.check_password(password)
    granted = user_rules.check_permissions(permissions)
    checks = verifiers.build(password)  # slow on purpose, so before anything is locked
    with transaction.atomic():
        tenant = admission.locked_tenant(space.tenant)
        locked = address_spaces.lock_for_change(space)
        _check_free(locked, name)
        admission.check(tenant, Resource.USERS)
        admission.check_space(locked, Resource.SPACE_USERS)
        user = MessagingUser.objects.create(
            space=locked, name=name, permissions=granted, verifiers=checks
        )
        configuration_size.check(locked)
        operation = _begin(user, f"{SUBJECT}.create", by)
        audit.record(by, f"{SUBJECT}.create", subject(user), after={"permissions": granted})
    return user, operation


def update(
    *,
    user: MessagingUser,
    by: Actor,
    password: str | None = None,
    permissions: Sequence[Any] | None = None,
    if_generation: int | None = None,
) -> tuple[MessagingUser, Operation]:
    """Change the password, the permissions or both; None leaves a value as it is.

    ``permissions`` replace all former ones. Returns the user and the operation to poll.

    Raises:
        GenerationChanged: ``if_generation`` is given and is not the row's. Invalid: password or
        permissions are wrong. UserTerminating: the user is being revoked. SpaceTerminating: the
        space is being deleted. ConfigurationFull: the permissions do not fit into the broker's
        file.
    """
    changed: dict[str, Any] = {}
    if permissions is not None:
        changed["permissions"] = user_rules.check_permissions(permissions)
    if password is not None:
        user_rules.check_password(password)
        changed["verifiers"] = verifiers.build(password)  # slow on purpose, so before the lock
    with transaction.atomic():
        address_spaces.lock_for_change(user.space)
        # Again, under the lock: the row of the caller may be outdated.
        row = MessagingUser.objects.select_related("space").get(pk=user.pk)
        address_spaces.check_generation(row, if_generation)
        if row.deletion_requested_at is not None:
            raise UserTerminating(f"The user {row.name!r} is being revoked; create a new one.")
        before = {"permissions": row.permissions}
        size_before = configuration_size.of(row.space)
        for name, value in changed.items():
            setattr(row, name, value)
        row.generation += 1
        row.save(update_fields=[*changed, "generation", "updated_at"])
        if "permissions" in changed:
            configuration_size.check(row.space, before=size_before)
        operation = _begin(row, f"{SUBJECT}.update", by)
        # The key "password" records that the password was changed. The audit masks its value.
        after = {"permissions": row.permissions, **({"password": "new"} if password else {})}
        audit.record(by, f"{SUBJECT}.update", subject(row), before=before, after=after)
    return row, operation


def revoke(*, user: MessagingUser, by: Actor) -> Operation:
    """Request that the user is revoked for ever; return the operation to poll.

    The workers then refuse the user's logins, close the user's connections and mark the row as
    deleted. Idempotent: if the user is being revoked or the space is being deleted already, returns
    the operation of that revocation or deletion.
    """
    with transaction.atomic():
        # Not ``lock_for_change``, which refuses: the deletion of the space is the answer then.
        address_spaces.lock(user.space)
        row = MessagingUser.objects.select_related("space").get(pk=user.pk)
        if row.deletion_requested_at is not None:
            return address_spaces.deletion_of(row.pk, row.space_id)
        row.deletion_requested_at = timezone.now()
        row.phase = Phase.TERMINATING
        row.generation += 1
        row.save(update_fields=["deletion_requested_at", "phase", "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.revoke", by)
        audit.record(by, f"{SUBJECT}.revoke", subject(row))
    return operation


def subject(user: MessagingUser) -> audit.Subject:
    """Return the subject of audit events about the messaging user."""
    return audit.Subject(SUBJECT, user.pk, user.name, user.space.tenant_id)


def _check_free(space: AddressSpace, name: str) -> None:
    """Raise UserExists if a messaging user of the space has the name, even one being revoked.

    The caller holds the lock of the space's row, so that a free name stays free until the commit.
    """
    taken = space.users.filter(name=name, deleted_at__isnull=True).first()
    if taken is not None:
        leaving = taken.deletion_requested_at is not None
        hint = "It is being revoked: try again when it is gone." if leaving else "Choose another."
        raise UserExists(f"There is a user {name!r} in this space already. {hint}")


def _begin(user: MessagingUser, kind: str, by: Actor) -> Operation:
    operation = operations.begin(
        tenant_id=user.space.tenant_id,
        kind=kind,
        subject=(SUBJECT, user.pk, user.name),
        generation=user.generation,
        by=by,
    )
    address_spaces.enqueue_reconcile(user.space)
    return operation
