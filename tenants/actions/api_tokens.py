"""Issue, revoke and look up API tokens. Only a hash of a token is stored."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from controlplane.core import audit, ids
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from plans.quotas.resources import Resource
from tenants import admission
from tenants.models import ApiToken, Role, Tenant

# The use of a token is stored at most this often, not at every request.
_SEEN_EVERY = timedelta(minutes=1)


def issue(
    *, tenant: Tenant, name: str, role: str, expires_at: datetime | None, by: Actor
) -> tuple[ApiToken, str]:
    """Create an API token of the tenant; return its row and its clear text, which is not stored.

    ``expires_at`` None means that the token never expires.

    Raises:
        Invalid: name, role or expiry is wrong. Conflict: another token that is not revoked has this
        name. QuotaExceeded: the tenant may have no more tokens. NoPlan: the tenant has no plan.
    """
    _check(name, role, expires_at)
    clear = ids.api_token()
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.api_tokens.filter(name=name, revoked_at__isnull=True).exists():
            raise Conflict(
                f"A token named {name!r} exists: choose another name.", code="api_token.exists"
            )
        admission.check(locked, Resource.API_TOKENS)
        token = ApiToken.objects.create(
            tenant=locked,
            name=name,
            role=role,
            prefix=clear[:9],  # enough to find the token in a list, too little to guess the rest
            token_hash=ids.token_hash(clear),
            created_by=by.name,
            expires_at=expires_at,
        )
        audit.record(by, "api_token.issue", _subject(token), after={"role": role})
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


def _check(name: str, role: str, expires_at: datetime | None) -> None:
    wrong: dict[str, list[str]] = {}
    if not name.strip() or len(name) > 100 or not name.isprintable():
        wrong["name"] = ["Give a name of 1 to 100 characters."]
    if role not in Role.values:
        wrong["role"] = [f"One of: {', '.join(Role.values)}."]
    if expires_at is not None and expires_at <= timezone.now():
        wrong["expires_at"] = ["Give a time in the future, or none."]
    if wrong:
        raise Invalid(
            "The token cannot be issued with these values.", code="api_token.invalid", **wrong
        )


def _subject(token: ApiToken) -> audit.Subject:
    return audit.Subject("api_token", str(token.pk), token.name, token.tenant_id)
