"""Make an account one of the operator's staff, or end that, for the operator at a shell."""

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Missing
from tenants.actions import account_access
from tenants.models import User


def set_staff(*, email: str, is_staff: bool, by: Actor) -> User:
    """Make the account ``email`` one of staff, or take that away and end its sessions. Idempotent.

    Raises:
        Missing: there is no such account. Conflict: the email of an account that is to become staff
        is not confirmed, so anybody may have typed it. Or no account of staff that can log in would
        remain.
    """
    with transaction.atomic():
        # Before the lock of the account: all callers lock in the order of the primary key.
        staff = _locked_staff()
        user = User.objects.select_for_update().filter(email__iexact=email.strip()).first()
        if user is None:
            raise Missing(f"There is no account {email}: sign up first.", code="user.missing")
        if user.is_staff == is_staff:
            return user
        if is_staff and not _is_confirmed(user):
            raise Conflict(f"{user.email} is not confirmed: open the link in the mail first.")
        if not is_staff and not _can_any_log_in(staff, but=user):
            raise Conflict(
                f"Without {user.email} no account of staff could log in: make another one first."
            )
        user.is_staff = is_staff
        user.save(update_fields=["is_staff"])
        if not is_staff:
            account_access.end_sessions(UserSession.objects.filter(user=user))
        action = "user.become_staff" if is_staff else "user.leave_staff"
        audit.record(by, action, audit.Subject("user", str(user.pk), user.email))
    return user


def is_last(user: User) -> bool:
    """Return whether no account of staff but ``user`` can log in. Lock all of staff.

    Two changes that each remove the other wait for one another, until their transactions end.
    """
    return not _can_any_log_in(_locked_staff(), but=user)


def _locked_staff() -> list[User]:
    # In one order, so that two callers do not wait for each other.
    return list(User.objects.select_for_update().filter(is_staff=True).order_by("pk"))


def _can_any_log_in(staff: list[User], *, but: User) -> bool:
    return any(_can_log_in(user) for user in staff if user != but)


def _can_log_in(user: User) -> bool:
    """Return whether ``user`` can log in with the installation's provider or a password of its own.

    The provider of an organization logs no staff in. A passkey alone is not enough either.
    """
    # A provider that the installation had before logs nobody in.
    issuer = settings.OIDC_ISSUER
    is_provided = bool(issuer) and (user.oidc_subject or "").startswith(f"{issuer}#")
    is_local = settings.LOCAL_ACCOUNTS_ENABLED and user.has_usable_password()
    if is_local and settings.EMAIL_CONFIRMATION:
        is_local = _is_confirmed(user)
    return user.is_active and (is_provided or is_local)


def _is_confirmed(user: User) -> bool:
    confirmed = EmailAddress.objects.filter(user=user, email=user.email, verified=True)
    return bool(confirmed.exists())
