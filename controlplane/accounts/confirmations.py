"""Sign-up where email addresses must be confirmed: it does not reveal who has an account."""

import secrets
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from tenants.actions import tenants
from tenants.actions.tenants import EmailTaken, SignedUp
from tenants.models import User


def are_required() -> bool:
    """Return whether a local account works only after its email address is confirmed."""
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory")


def sign_up(*, email: str, **wanted: Any) -> SignedUp | None:
    """Sign up as ``tenants.sign_up`` does; return None if the email has an account already.

    Both cases take equally long and refuse the same values. Sends no mail.

    Raises:
        All that ``tenants.sign_up`` raises, except ``EmailTaken``.
    """
    try:
        if not User.objects.filter(email=email.strip().lower()).exists():
            return tenants.sign_up(email=email, **wanted)
    except EmailTaken:  # by a sign-up at the same time
        return None
    name = email.partition("@")[0][:60]
    with transaction.atomic():
        # Do the same work for an email address that nobody has, and undo it: both cases must take
        # equally long.
        tenants.sign_up(email=f"{name}@{secrets.token_hex(8)}.invalid", **wanted)
        transaction.set_rollback(True)
    return None


def send_mail(request: HttpRequest, email: str, signed_up: SignedUp | None) -> None:
    """Send the mail of a sign-up: the link that confirms the email address.

    If ``signed_up`` is None, the mail says instead that the address has an account already. If the
    process is killed before it sends the mail, the next login to the account sends a link.
    """
    if signed_up is None:
        get_adapter(request).send_account_already_exists_mail(email.strip().lower())
    else:
        address = EmailAddress.objects.get(user=signed_up.user, primary=True)
        address.send_confirmation(request, signup=True)
