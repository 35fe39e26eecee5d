"""Take away what opens an account: its sessions, and second factors of before its email was proven.

Whoever signs up with the address of another person can log in until the address is confirmed, and
add passkeys. When the person proves that the address is theirs, this must not stay.
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
    """Store that ``user`` reads the mail of their address, in the session ``session_key``.

    If the address was not confirmed before, deletes all second factors and passkeys, and ends all
    sessions but that one; with an empty ``session_key``, all. Idempotent.
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
