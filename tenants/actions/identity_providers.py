"""Set and remove the identity provider of a tenant, and confirm the domains of its people."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.core import audit, outbound, secrets
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from tenants import admission
from tenants.models import PROVIDER_ROLES, IdentityProvider, LoginDomain, Tenant

# A DNS name of at least two labels.
_DOMAIN = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,62}")
_MOST_DOMAINS = 20  # of one organization
_MOST_GROUPS = 100  # that get a role
_LONGEST_GROUP = 150  # characters of a group's name


class DomainsChanged(Conflict):
    """The tenant's provider no longer has a domain that was to be confirmed."""

    code = "identity_provider.domains_changed"


class DomainTaken(Conflict):
    """Another tenant has the domain."""

    code = "identity_provider.domain_taken"


@dataclass(frozen=True)
class Wish:
    """The wanted provider. ``client_secret`` empty: keep the stored one, for the same issuer."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    domains: Sequence[str]
    default_role: str
    groups_claim: str = "groups"
    group_roles: Mapping[str, str] = field(default_factory=dict)


def save(*, tenant: Tenant, wish: Wish, by: Actor, confirms: bool = False) -> IdentityProvider:
    """Set the provider of the tenant to ``wish``; return its row.

    ``confirms``: the operator sets the provider, and vouches for its domains. Otherwise the
    operator must confirm each new domain (``confirm_domains``). With another issuer, the identities
    of people are deleted: a ``sub`` of one provider says nothing about that of another one. A new
    issuer needs a new secret.

    Raises:
        Invalid: a value is not valid, or the secret for a new issuer is missing. DomainTaken: see
            ``confirm_domains``.
    """
    names = _checked(wish)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        row = IdentityProvider.objects.filter(tenant=locked).first()
        if not wish.client_secret and (row is None or row.issuer != wish.issuer):
            # A login would hand the secret of the former issuer to the new one.
            raise Invalid(
                "The client secret is missing.",
                client_secret=["It is missing: a new issuer needs a secret of its own."],
            )
        before = shown(row) if row else None
        if row is not None and row.issuer != wish.issuer:
            row.identities.all().delete()
        row = row or IdentityProvider(tenant=locked)
        row.issuer, row.client_id = wish.issuer, wish.client_id
        row.groups_claim, row.group_roles = wish.groups_claim, dict(wish.group_roles)
        row.default_role = wish.default_role
        if wish.client_secret:
            row.sealed_secret = secrets.encrypt(wish.client_secret)
        row.save()
        # Not replaced as a whole: a domain that stays keeps its confirmation.
        row.domains.exclude(name__in=names).delete()
        for name in names:
            row.domains.get_or_create(name=name)
        if confirms:
            _confirm(row, names)
        after = {**shown(row), "client_secret": "replaced" if wish.client_secret else "kept"}
        audit.record(by, "identity_provider.set", _subject(locked), before=before, after=after)
    return row


def remove(*, tenant: Tenant, by: Actor) -> None:
    """Remove the provider of the tenant and the identities of its people. Idempotent.

    The people stay members. A person without a password sets one by the mail of "Forgot your
    password?".
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        row = IdentityProvider.objects.filter(tenant=locked).first()
        if row is not None:
            before = shown(row)
            row.delete()
            audit.record(by, "identity_provider.remove", _subject(locked), before=before)


def confirm_domains(*, tenant: Tenant, domains: Sequence[str], by: Actor) -> IdentityProvider:
    """Confirm that ``domains`` of the tenant's provider are the tenant's; for staff. Idempotent.

    ``domains`` are those that the member of staff saw. Others, which the owner has added since,
    stay as they are.

    Raises:
        Missing: the tenant has no provider. DomainsChanged: the provider has one of them no longer,
            or none is named; nothing is confirmed. DomainTaken: another tenant has one of them.
    """
    names = sorted({name.strip().lower() for name in domains})
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        row = get(locked)
        present = set(row.domains.values_list("name", flat=True))
        if not names or not present.issuperset(names):
            raise DomainsChanged(
                "The domains of this organization have changed since you looked. Look at them "
                "again, then confirm those that are its own.",
                domains=sorted(present),
            )
        if _confirm(row, names):
            audit.record(
                by, "identity_provider.confirm_domains", _subject(locked), after=shown(row)
            )
    return row


def get(tenant: Tenant) -> IdentityProvider:
    """Return the provider of the tenant.

    Raises:
        Missing: ``identity_provider.missing``: it has none.
    """
    row = IdentityProvider.objects.filter(tenant=tenant).first()
    if row is None:
        raise Missing(
            "This organization has no identity provider of its own.",
            code="identity_provider.missing",
        )
    return row


def shown(row: IdentityProvider) -> dict[str, object]:
    """Return what people may see of the provider: everything but its secret."""
    domains = list(row.domains.order_by("name"))
    return {
        "issuer": row.issuer,
        "client_id": row.client_id,
        "groups_claim": row.groups_claim,
        "group_roles": row.group_roles,
        "default_role": row.default_role,
        "domains": [one.name for one in domains],
        "confirmed_domains": [one.name for one in domains if one.confirmed_at],
    }


def _confirm(row: IdentityProvider, names: Sequence[str]) -> int:
    """Confirm the domains ``names`` of ``row``; return how many were not confirmed before."""
    wanted = row.domains.filter(name__in=names, confirmed_at=None)
    try:
        # A savepoint: without it, the query for the message would fail after the error.
        with transaction.atomic():
            return wanted.update(confirmed_at=timezone.now())
    except IntegrityError:
        taken = LoginDomain.objects.filter(name__in=names, confirmed_at__isnull=False)
        taken = taken.exclude(provider=row)
        raise DomainTaken(
            f"Another tenant has these domains: {', '.join(one.name for one in taken)}."
        ) from None


def _checked(wish: Wish) -> list[str]:
    """Return the domains of ``wish`` in lower case, each once.

    Raises:
        Invalid: a value is not valid.
    """
    problems: dict[str, list[str]] = {}
    try:
        if outbound.check(wish.issuer).query:
            problems["issuer"] = ["The issuer has no query."]
    except outbound.TargetRefused as error:
        problems["issuer"] = [error.message]
    names = sorted({name.strip().lower().removeprefix("@") for name in wish.domains})
    wrong = [name for name in names if not _DOMAIN.fullmatch(name)]
    if wrong or not 1 <= len(names) <= _MOST_DOMAINS:
        problems["domains"] = [
            f"These are no domains: {', '.join(wrong)[:200]}."
            if wrong
            else f"Name between one and {_MOST_DOMAINS} domains, such as acme.example."
        ]
    if wish.default_role and wish.default_role not in PROVIDER_ROLES:
        problems["default_role"] = [f"One of: {', '.join(PROVIDER_ROLES)}; or empty."]
    if not set(wish.group_roles.values()) <= set(PROVIDER_ROLES):
        problems["group_roles"] = [f"Roles are: {', '.join(PROVIDER_ROLES)}."]
    longest = max(map(len, wish.group_roles), default=0)
    if len(wish.group_roles) > _MOST_GROUPS or longest > _LONGEST_GROUP:
        problems["group_roles"] = [
            f"At most {_MOST_GROUPS} groups of {_LONGEST_GROUP} characters each."
        ]
    if problems:
        raise Invalid(
            "The identity provider is not valid.", code="identity_provider.refused", **problems
        )
    return names


def _subject(tenant: Tenant) -> audit.Subject:
    return audit.Subject("tenant", tenant.pk, tenant.slug, tenant.pk)
