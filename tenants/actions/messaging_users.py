"""Create, change and revoke the messaging users of a space.

A password is turned into verifiers at once and never stored.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.quotas.resources import Resource
from tenants import admission, verifiers
from tenants.actions import address_spaces
from tenants.models import AddressSpace, MessagingUser

SUBJECT = "messaging_user"
OPERATIONS = ("send", "recv")
MIN_PASSWORD = 8
MAX_PASSWORD = 200
MAX_GRANTS = 100
_LEGAL_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?")
_RESERVED_NAMES = ("wp-", "waypost")
# The characters of legal addresses (``tenants.address_rules``), and the wildcards `*` and `#`.
_LEGAL_PATTERN = re.compile(r"[^\s$+:][^\s+]{0,254}")


class UserExists(Conflict):
    """The space already has a user of this name."""

    code = "messaging_user.exists"


class UserTerminating(Conflict):
    """The user is being revoked, so it cannot change."""

    code = "messaging_user.terminating"


def create(
    *, space: AddressSpace, name: str, password: str, permissions: Sequence[Any], by: Actor
) -> tuple[MessagingUser, Operation]:
    """Create a messaging user; return it with the operation to poll.

    ``permissions``: a list of {"addresses": [pattern], "operations": ["send"|"recv"]}.

    Raises:
        Invalid: name, password or permissions are wrong. UserExists: the name is taken.
        QuotaExceeded: a limit, which the message names, would be exceeded. SpaceTerminating: the
        space is being deleted.
    """
    _check_name(name)
    _check_password(password)
    granted = check_permissions(permissions)
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
        operation = _begin(user, f"{SUBJECT}.create")
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
    """Change the password or the permissions; None leaves a value as it is.

    Raises:
        GenerationChanged: ``if_generation`` is not the row's. Invalid: password or permissions are
        wrong. UserTerminating: the user is being revoked. SpaceTerminating: the space is being
        deleted.
    """
    changed = _changes(password, permissions)  # hashes the password, so before the lock
    with transaction.atomic():
        address_spaces.lock_for_change(user.space)
        row = _reread(user)
        address_spaces.check_generation(row, if_generation)
        if row.deletion_requested_at is not None:
            raise UserTerminating(f"The user {row.name!r} is being revoked; create a new one.")
        before = {"permissions": row.permissions}
        for name, value in changed.items():
            setattr(row, name, value)
        row.generation += 1
        row.save(update_fields=[*changed, "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.update")
        # The audit masks the value of "password": only whether the key is there says anything.
        after = {"permissions": row.permissions, **({"password": "new"} if password else {})}
        audit.record(by, f"{SUBJECT}.update", subject(row), before=before, after=after)
    return row, operation


def revoke(*, user: MessagingUser, by: Actor) -> Operation:
    """Request the user's revocation. Idempotent.

    The workers then refuse its logins and close its connections.
    """
    with transaction.atomic():
        address_spaces.lock(user.space)
        row = _reread(user)
        if row.deletion_requested_at is not None:
            return address_spaces.deletion_of(row.pk, row.space_id)
        row.deletion_requested_at = timezone.now()
        row.phase = Phase.TERMINATING
        row.generation += 1
        row.save(update_fields=["deletion_requested_at", "phase", "generation", "updated_at"])
        operation = _begin(row, f"{SUBJECT}.revoke")
        audit.record(by, f"{SUBJECT}.revoke", subject(row))
    return operation


def check_permissions(permissions: Sequence[Any]) -> list[dict[str, list[str]]]:
    """Return the permissions in their stored form.

    Raises:
        Invalid: an entry is malformed, or there are more than ``MAX_GRANTS``.
    """
    if len(permissions) > MAX_GRANTS:
        raise _refuse(
            "permissions", f"At most {MAX_GRANTS} entries; use patterns to cover more addresses."
        )
    return [_permission(index, entry) for index, entry in enumerate(permissions)]


def subject(user: MessagingUser) -> audit.Subject:
    """Return the user as an audit subject."""
    return audit.Subject(SUBJECT, user.pk, user.name, user.space.tenant_id)


def _reread(user: MessagingUser) -> MessagingUser:
    return MessagingUser.objects.select_related("space").get(pk=user.pk)


def _changes(password: str | None, permissions: Sequence[Any] | None) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if permissions is not None:
        changed["permissions"] = check_permissions(permissions)
    if password is not None:
        _check_password(password)
        changed["verifiers"] = verifiers.build(password)
    return changed


def _permission(index: int, entry: Any) -> dict[str, list[str]]:
    at = f"permissions[{index}]"
    if not isinstance(entry, dict) or set(entry) != {"addresses", "operations"}:
        raise _refuse(at, "Give {addresses: [pattern], operations: [send, recv]}.")
    addresses, allowed = entry["addresses"], entry["operations"]
    if not _is_names(allowed) or not set(allowed) <= set(OPERATIONS):
        raise _refuse(f"{at}.operations", "A list of: send, recv.")
    if not _is_names(addresses) or not all(_is_pattern(pattern) for pattern in addresses):
        raise _refuse(
            f"{at}.addresses",
            f"1 to {MAX_GRANTS} addresses; '*' matches one level between '/', and '#' at the end "
            "matches all further levels.",
        )
    # In the order of ``OPERATIONS``, so that equal permissions are stored equally.
    return {"addresses": list(addresses), "operations": sorted(set(allowed), reverse=True)}


def _is_names(value: Any) -> bool:
    is_list = isinstance(value, list) and 0 < len(value) <= MAX_GRANTS
    return is_list and all(isinstance(name, str) for name in value)


def _is_pattern(pattern: str) -> bool:
    """Return whether each wildcard is a whole level and '#' is the last level."""
    if not _LEGAL_PATTERN.fullmatch(pattern) or not pattern.isprintable():
        return False
    levels = pattern.split("/")
    whole = all(level in {"*", "#"} or not set(level) & {"*", "#"} for level in levels)
    return whole and "#" not in levels[:-1]


def _refuse(field: str, reason: str) -> Invalid:
    return Invalid(f"{field}: {reason}", code=f"{SUBJECT}.invalid", **{field: [reason]})


def _check_name(name: str) -> None:
    if not _LEGAL_NAME.fullmatch(name):
        raise _refuse(
            "name",
            "1 to 63 characters of a-z, 0-9, '.', '_', '-', with a letter or digit at both ends.",
        )
    if name.startswith(_RESERVED_NAMES):
        raise _refuse("name", f"These prefixes are reserved: {', '.join(_RESERVED_NAMES)}.")


def _check_password(password: str) -> None:
    """Accept printable ASCII only.

    SASLprep (RFC 4013) leaves it unchanged, so every login mechanism hashes the same bytes.
    """
    is_long_enough = MIN_PASSWORD <= len(password) <= MAX_PASSWORD
    if not (is_long_enough and password.isascii() and password.isprintable()):
        reason = f"{MIN_PASSWORD} to {MAX_PASSWORD} ASCII letters, digits, symbols and spaces."
        raise _refuse("password", reason)


def _check_free(space: AddressSpace, name: str) -> None:
    """Refuse a name that is taken. The space's lock keeps a free name free until the commit."""
    taken = space.users.filter(name=name, deleted_at__isnull=True).first()
    if taken is not None:
        leaving = taken.deletion_requested_at is not None
        hint = "It is being revoked: try again when it is gone." if leaving else "Choose another."
        raise UserExists(f"There is a user {name!r} in this space already. {hint}")


def _begin(user: MessagingUser, kind: str) -> Operation:
    operation = operations.begin(
        tenant_id=user.space.tenant_id,
        kind=kind,
        subject=(SUBJECT, user.pk, user.name),
        generation=user.generation,
    )
    address_spaces.enqueue_reconcile(user.space)
    return operation
