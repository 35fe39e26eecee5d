"""Link an account to a person of the identity provider, for the operator at a shell.

A login links accounts by itself, except those of staff and those with another identity
(``controlplane.accounts.provider_identities``): whoever controls an email address at the provider
must not become staff.
"""

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from tenants.actions import account_access
from tenants.models import TenantIdentity, User

_LONGEST = 400  # of the column, with the issuer


class IdentityTaken(Conflict):
    """The identity is linked to another account, or the account to another identity."""

    code = "identity.taken"


def link(*, email: str, subject: str, by: Actor, replace: bool = False) -> User:
    """Link the account ``email`` to the person ``subject`` (``sub``) of the configured provider.

    From then on only the provider logs the person in. The password, second factors, the identity at
    a tenant's provider and all sessions are removed. ``replace`` allows that the account has
    another identity, and replaces it. Idempotent.

    Raises:
        Missing: there is no such account. Invalid: there is no provider, or ``subject`` is empty or
        too long. IdentityTaken: another account has this identity, or the account has another one
        and ``replace`` is False.
    """
    identity = f"{settings.OIDC_ISSUER}#{subject.strip()}"
    if not settings.OIDC_ISSUER:
        raise Invalid("No identity provider is configured: set WAYPOST_OIDC_ISSUER first.")
    if not subject.strip() or len(identity) > _LONGEST:
        raise Invalid("The subject is the value of `sub` that the provider sends for the person.")
    with transaction.atomic():
        user = User.objects.select_for_update().filter(email__iexact=email.strip()).first()
        if user is None:
            raise Missing(f"There is no account {email}: create it first.", code="user.missing")
        if user.oidc_subject == identity:
            return user
        other = User.objects.filter(oidc_subject=identity).first()
        if other is not None:
            raise IdentityTaken(f"This person is linked to the account {other.email} already.")
        if user.oidc_subject and not replace:
            raise IdentityTaken(
                f"{user.email} is linked to {user.oidc_subject}: replace it only if the person is "
                "the same one."
            )
        before = {"identity": user.oidc_subject} if user.oidc_subject else {}
        user.oidc_subject = identity
        user.set_unusable_password()
        user.save(update_fields=["oidc_subject", "password"])
        Authenticator.objects.filter(user=user).delete()
        TenantIdentity.objects.filter(user=user).delete()
        account_access.end_sessions(UserSession.objects.filter(user=user))
        audit.record(
            by,
            "user.link_identity",
            audit.Subject("user", str(user.pk), user.email),
            before=before,
            after={"identity": identity},
        )
    return user
