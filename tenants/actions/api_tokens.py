"""Issue, rotate, revoke and look up API tokens. Only a hash of a token is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from controlplane.core import audit, ids
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.quotas.resources import Resource
from tenants import admission, permissions
from tenants.models import ApiToken, Role, Tenant

# How long a token is valid if its creator names no end.
DEFAULT_LIFETIME = timedelta(days=90)


@dataclass(frozen=True)
class TokenScope:
    """The limits of a token beyond its role; an empty tuple does not limit.

    ``spaces`` are names of spaces, which need not exist yet. ``permissions`` are permissions that
    the role includes, without ``permissions.NOT_FOR_LIMITED_TOKENS``.
    """

    spaces: Sequence[str] = ()
    permissions: Sequence[str] = ()


EVERYTHING = TokenScope()
_MOST_SPACES = 100  # to which one token is limited
# The use of a token is stored at most this often, not at every request.
_SEEN_EVERY = timedelta(minutes=1)


def issue(
    *,
    tenant: Tenant,
    name: str,
    role: str,
    expires_at: datetime | None,
    by: Actor,
    scope: TokenScope = EVERYTHING,
) -> tuple[ApiToken, str]:
    """Create an API token of the tenant; return its row and its clear text, which is not stored.

    ``expires_at`` None means that the token never expires.

    Raises:
        Invalid: name, role, expiry or scope is wrong. Conflict: another token that is not revoked
        has this name. QuotaExceeded: the tenant may have no more tokens. NoPlan: the tenant has no
        plan.
    """
    _check(name, role, expires_at, scope)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.api_tokens.filter(name=name, revoked_at__isnull=True).exists():
            raise Conflict(
                f"A token named {name!r} exists: choose another name.", code="api_token.exists"
            )
        admission.check(locked, Resource.API_TOKENS)
        token, clear = _create(
            ApiToken(
                tenant=locked,
                name=name,
                role=role,
                created_by=by.name,
                expires_at=expires_at,
                spaces=sorted(set(scope.spaces)),
                permissions=sorted(set(scope.permissions)),
            )
        )
        after = {"role": role, "spaces": token.spaces, "permissions": token.permissions}
        audit.record(by, "api_token.issue", _subject(token), after=after)
    return token, clear


def rotate(*, token: ApiToken, by: Actor) -> tuple[ApiToken, str]:
    """Replace the token by one with the same name, role, scope and lifetime; revoke the former one.

    Returns the new row and its clear text. A token without expiry gets ``DEFAULT_LIFETIME``.

    Raises:
        Missing: the token is revoked already.
    """
    now = timezone.now()
    with transaction.atomic():
        admission.locked_tenant(token.tenant)
        former = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).first()
        if former is None:
            raise Missing("The token is revoked: issue another one.", code="api_token.missing")
        # Before the new one: a constraint allows one token of a name that is not revoked.
        former.revoked_at = now
        former.save(update_fields=["revoked_at", "updated_at"])
        ends = former.expires_at
        following, clear = _create(
            ApiToken(
                tenant=former.tenant,
                name=former.name,
                role=former.role,
                created_by=by.name,
                expires_at=now + (ends - former.created_at if ends else DEFAULT_LIFETIME),
                spaces=former.spaces,
                permissions=former.permissions,
            )
        )
        audit.record(by, "api_token.rotate", _subject(following))
    return following, clear


def _create(token: ApiToken) -> tuple[ApiToken, str]:
    """Store ``token`` with the hash of a new secret; return it and the secret."""
    clear = ids.api_token()
    token.prefix = clear[:9]  # enough to find the token in a list, too little to guess the rest
    token.token_hash = ids.token_hash(clear)
    token.save()
    return token, clear


def revoke(*, token: ApiToken, by: Actor) -> None:
    """Revoke the token: from now on ``find`` returns None for its clear text. Idempotent."""
    with transaction.atomic():
        # The filter makes a second revocation change nothing and write no second audit event.
        ended = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True)
        if ended.update(revoked_at=timezone.now()):
            audit.record(by, "api_token.revoke", _subject(token))


def find(clear: str) -> ApiToken | None:
    """Return the token with the clear text ``clear``, with its tenant loaded.

    None if there is no such token, or if it is revoked or expired. Stores the time of this use in
    ``last_used_at``, at most once a minute. Writes no audit event.
    """
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("tenant")
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        # Looked up by hash, because the clear text is not stored: nobody can log in with a token
        # from the database or a backup.
        .filter(token_hash=ids.token_hash(clear), revoked_at__isnull=True)
        .first()
    )
    if token and (token.last_used_at is None or now - token.last_used_at > _SEEN_EVERY):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def _check(name: str, role: str, expires_at: datetime | None, scope: TokenScope) -> None:
    wrong: dict[str, list[str]] = {}
    if not name.strip() or len(name) > 100 or not name.isprintable():
        wrong["name"] = ["Give a name of 1 to 100 characters."]
    if role not in Role.values:
        wrong["role"] = [f"One of: {', '.join(Role.values)}."]
    if expires_at is not None and expires_at <= timezone.now():
        wrong["expires_at"] = ["Give a time in the future, or none."]
    grantable = permissions.ROLES.get(role, frozenset()) - permissions.NOT_FOR_LIMITED_TOKENS
    if set(scope.permissions) - grantable:
        most = ", ".join(sorted(grantable))
        text = f"A token of the role {role} can be limited to these permissions only: {most}."
        wrong["permissions"] = [text]
    if not all(0 < len(name) <= 63 for name in scope.spaces) or len(scope.spaces) > _MOST_SPACES:
        wrong["spaces"] = [f"Names of spaces, at most {_MOST_SPACES}."]
    if wrong:
        raise Invalid(
            "The token cannot be issued with these values.", code="api_token.invalid", **wrong
        )


def _subject(token: ApiToken) -> audit.Subject:
    return audit.Subject("api_token", str(token.pk), token.name, token.tenant_id)
