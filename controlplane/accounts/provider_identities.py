"""Which account a person has who logs in through the installation's identity provider.

The first line that fits counts:

    known issuer#sub                             -> its user, whatever the email is now
    email missing or not verified                -> refused
    verified email without an account            -> a new user
    verified email of a local account            -> linked, and its password and second factors are
                                                    removed, because whoever set them never proved
                                                    the email
    verified email of staff                      -> the same, if the provider says "staff" too
    verified email of a user with another
    identity, of other staff or of a superuser   -> refused

``organization_identities`` has the rules for the provider of an organization.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, transaction

from controlplane.core import audit
from controlplane.core.errors import Denied
from tenants.models import TenantIdentity, User


class LoginRefused(Denied):
    """The provider authenticated a person, but the login is refused here; the message says why."""

    code = "login.refused"


@dataclass(frozen=True)
class Identity:
    """A value: what the provider says about a person who logs in.

    ``subject`` is ``<issuer>#<sub>``, which never changes for a person. ``email`` is in lower case,
    and empty if the provider sends none. Names are empty if the provider sends none. ``is_staff``:
    the person is in the installation's group of operators.
    """

    subject: str
    email: str
    email_verified: bool
    first_name: str
    last_name: str
    is_staff: bool = False


def read_identity(claims: Mapping[str, Any]) -> Identity:
    """Return the identity that checked ``claims`` describe; they must have ``iss`` and ``sub``.

    The email counts as verified only if ``email_verified`` is the JSON value ``true``. Names are
    cut to the length of their columns.
    """
    return Identity(
        subject=f"{claims['iss']}#{claims['sub']}",
        email=str(claims.get("email") or "").strip().lower(),
        email_verified=claims.get("email_verified") is True,
        # 150 is the length of the name columns.
        first_name=str(claims.get("given_name") or "")[:150],
        last_name=str(claims.get("family_name") or "")[:150],
    )


def read_groups(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    """Return the groups in ``claim``; none if it is missing or no list."""
    value = claims.get(claim)
    # Keycloak may send full paths, such as ``/staff``.
    return (
        frozenset(str(name).lstrip("/") for name in value)
        if isinstance(value, list)
        else frozenset()
    )


def sign_in(identity: Identity) -> User:
    """Return the user of ``identity``, by the table at the top of this module. Idempotent.

    Creates a user, or links the identity to a local account, and audits either. Stores the names
    that the provider sends now for a known user. Starts no session.

    Raises:
        LoginRefused: the table refuses the identity.
    """
    try:
        with transaction.atomic():
            return _known(identity) or _linked(identity) or _created(identity)
    except IntegrityError:
        # A concurrent login of the same person has created the row.
        user = _known(identity)
        if user is None:
            raise
        return user


def _known(identity: Identity) -> User | None:
    user = User.objects.filter(oidc_subject=identity.subject).first()
    names = (identity.first_name, identity.last_name)
    if user is not None and (user.first_name, user.last_name) != names:
        user.first_name, user.last_name = names
        user.save(update_fields=["first_name", "last_name"])
    return user


def _linked(identity: Identity) -> User | None:
    if not (identity.email and identity.email_verified):
        raise LoginRefused(
            "Your identity provider has not verified your email address. Verify it there, then "
            "log in again."
        )
    user = User.objects.select_for_update().filter(email__iexact=identity.email).first()
    if user is None:
        return None
    if user.oidc_subject or user.is_superuser or (user.is_staff and not identity.is_staff):
        raise LoginRefused(
            "This email address belongs to an account of an operator, or of another identity. Only "
            "the provider's group of operators opens the former. Otherwise ask the operator."
        )
    user.oidc_subject = identity.subject
    # Whoever set the password, or added a second factor, never proved that the email address is
    # theirs. A passkey would still log that person in.
    user.set_unusable_password()
    user.save(update_fields=["oidc_subject", "password"])
    Authenticator.objects.filter(user=user).delete()
    # From now on the provider of an organization cannot log the account in either.
    TenantIdentity.objects.filter(user=user).delete()
    _confirm(user)
    _record("user.link_identity", user)
    return user


def _created(identity: Identity) -> User:
    user = User.objects.create_user(
        username=identity.email,
        email=identity.email,
        oidc_subject=identity.subject,
        first_name=identity.first_name,
        last_name=identity.last_name,
    )
    _confirm(user)
    _record("user.create", user)
    return user


def _confirm(user: User) -> None:
    """Store that the email of ``user`` is confirmed: the provider has verified it."""
    EmailAddress.objects.update_or_create(
        user=user, email=user.email, defaults={"verified": True, "primary": True}
    )


def _record(action: str, user: User) -> None:
    audit.record(
        audit.Actor(f"user:{user.email}"),
        action,
        audit.Subject("user", str(user.pk), user.email),
        after={"identity": user.oidc_subject},
    )
