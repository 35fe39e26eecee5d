"""Logs a person in with email, password and second factor outside of the portal's pages."""

from allauth.account.models import EmailAddress
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import authenticate
from django.http import HttpRequest

from controlplane.accounts import login_audit
from controlplane.core import throttling
from controlplane.core.errors import Denied
from tenants.models import User


class SecondFactorNeeded(Denied):
    """The account has a second factor, and its code is missing or wrong."""

    code = "login.second_factor_needed"


class EmailNotConfirmed(Denied):
    """The account's email address is not confirmed yet."""

    code = "login.email_not_confirmed"


def log_in(request: HttpRequest, email: str, password: str, code: str = "") -> User | None:
    """Return the account that email, password and ``code`` open.

    None if email or password is wrong, or if the account is disabled.

    ``code`` is that of an authenticator app or a recovery code. Starts no session.

    Raises:
        TooManyAttempts: over a limit. EmailNotConfirmed, SecondFactorNeeded: the password is right.
    """
    try:
        attempt = throttling.begin_login(request, email)
    except throttling.TooManyAttempts as error:
        login_audit.record_limit(request, email, error)
        raise
    # ``authenticate`` sends the signal by which ``login_audit`` records a wrong password.
    # User names are emails in lower case.
    user = authenticate(request, username=email.lower(), password=password)
    if not isinstance(user, User):
        return None
    # The password was right, so it was no guess. Codes have a count of their own.
    attempt.succeeded()
    _require_confirmed(user)
    _require_second_factor(user, code)
    login_audit.record("login.succeed", user, request, method="api")
    return user


def _require_confirmed(user: User) -> None:
    if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
        return
    if not EmailAddress.objects.filter(user=user, verified=True).exists():
        raise EmailNotConfirmed(
            "Your email address is not confirmed yet: open the link in the mail that you got. Log "
            "in to the portal to get another mail."
        )


def _require_second_factor(user: User, code: str) -> None:
    kinds = set(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    # Recovery codes alone are no second factor: each only replaces one of these.
    if not kinds & {Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN}:
        return
    if Authenticator.Type.TOTP not in kinds and not code:
        raise SecondFactorNeeded(
            "Your account needs a recovery code here, because the command cannot use a passkey. Or "
            "log in to the portal, issue an API token, and store it with `waypost contexts add`."
        )
    # The form limits attempts, and sends the signal of a failure.
    if not AuthenticateForm(data={"code": code}, user=user).is_valid():
        raise SecondFactorNeeded(
            "Give the code that your authenticator app shows now, or a recovery code."
        )
