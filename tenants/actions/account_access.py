"""End the sessions of an account, and delete second factors that a stranger may have added.

Anybody can sign up with the email address of another person. Unless the installation demands
confirmed addresses, the stranger can then log in and add passkeys. When the person confirms the
address, the stranger must lose all access.
"""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import models, transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from tenants.models import User


@transaction.atomic
def prove_email(*, user: User, by: Actor, session_key: str) -> None:
    """Store that ``user`` has confirmed their email address, in the session ``session_key``.

    If the address was not confirmed before, deletes all second factors and passkeys, and ends all
    sessions but that one; with an empty ``session_key``, it ends all. Idempotent.
    """
    email = user.email.lower()
    was_proven = EmailAddress.objects.filter(user=user, email=email, verified=True).exists()
    EmailAddress.objects.update_or_create(
        user=user, email=email, defaults={"verified": True, "primary": True}
    )
    if was_proven:
        return  # whoever added a factor since then reads the mail too
    deleted, _ = Authenticator.objects.filter(user=user).delete()
    end_sessions(UserSession.objects.filter(user=user).exclude(session_key=session_key))
    if deleted:
        subject = audit.Subject("user", str(user.pk), user.email)
        reason = "added before the email address was confirmed"
        audit.record(by, "account.remove_second_factor", subject, reason=reason)


@transaction.atomic
def end_sessions(rows: models.QuerySet[UserSession]) -> int:
    """End the sessions of ``rows``; return how many had not ended. Idempotent."""
    # Read before the rows go: a session of Django does not name its account.
    keys = list(rows.values_list("session_key", flat=True))
    UserSession.objects.filter(session_key__in=keys).delete()
    ended, _ = Session.objects.filter(session_key__in=keys).delete()
    return ended
