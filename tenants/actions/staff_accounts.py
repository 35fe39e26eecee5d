"""Make an account one of the operator's staff, or end that, for the operator at a shell."""

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
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
        is not confirmed, so anybody may have typed it. Or the last account of staff would lose the
        right.
    """
    with transaction.atomic():
        # All staff, in one order: two callers that each remove the other wait for one another.
        staff = list(User.objects.select_for_update().filter(is_staff=True).order_by("pk"))
        user = User.objects.select_for_update().filter(email__iexact=email.strip()).first()
        if user is None:
            raise Missing(f"There is no account {email}: sign up first.", code="user.missing")
        if user.is_staff == is_staff:
            return user
        proven = EmailAddress.objects.filter(user=user, email=user.email, verified=True)
        if is_staff and not proven.exists():
            raise Conflict(f"{user.email} is not confirmed: open the link in the mail first.")
        if not is_staff and staff == [user]:
            raise Conflict(f"{user.email} is the only account of staff: make another one first.")
        user.is_staff = is_staff
        user.save(update_fields=["is_staff"])
        if not is_staff:
            account_access.end_sessions(UserSession.objects.filter(user=user))
        action = "user.become_staff" if is_staff else "user.leave_staff"
        audit.record(by, action, audit.Subject("user", str(user.pk), user.email))
    return user
