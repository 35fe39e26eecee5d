"""Writes logins, failures, log-outs and changes of an account to the audit log.

The events belong to no tenant. Their subject is the account. If no account has the email, the id
of the subject is empty.
"""

from typing import Any

from allauth.account import signals as account_signals
from allauth.account.models import EmailAddress
from allauth.mfa import signals as factor_signals
from allauth.mfa.models import Authenticator
from django.contrib.auth import signals as auth_signals
from django.dispatch import receiver
from django.http import HttpRequest

from controlplane.accounts import known_browsers, person_sessions
from controlplane.core import audit, network
from controlplane.core.audit import Actor
from controlplane.core.throttling import TooManyAttempts
from tenants.models import User

_LONGEST_EMAIL = 150  # characters; anybody can type anything into the form


def record(action: str, user: User, request: HttpRequest | None, **after: Any) -> None:
    """Write one event about the account of ``user``, who is the actor."""
    source_ip = network.address(request) if request else ""
    subject = audit.Subject("user", str(user.pk), user.email)
    audit.record(Actor(f"user:{user.email}", source_ip), action, subject, after=after)


def record_refusal(action: str, email: str, request: HttpRequest, reason: str) -> None:
    """Write one event about a refused attempt to log in as ``email``, empty if it is unknown."""
    email = email.strip().lower()[:_LONGEST_EMAIL]
    pk = User.objects.filter(email=email).values_list("pk", flat=True).first()
    subject = audit.Subject("user", str(pk or ""), email if email.isprintable() else "")
    actor = Actor("anonymous", network.address(request))
    audit.record(actor, action, subject, reason=reason)


def record_limit(request: HttpRequest, email: str, error: TooManyAttempts) -> None:
    """Write one event about a refused login, if it is the first one of its limit's window.

    Later ones write nothing: a refused guess must cost little.
    """
    if error.is_first:
        record_refusal("login.refuse", email, request, "too many attempts")


@receiver(auth_signals.user_logged_in)
def on_login(sender: Any, request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    if request is not None:
        known_browsers.remember(request, user.email)
        person_sessions.add(request, user)
    record("login.succeed", user, request, method="portal")


@receiver(auth_signals.user_logged_out)
def on_logout(sender: Any, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record("login.end", user, request)


@receiver(auth_signals.user_login_failed)
def on_failure(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
) -> None:
    # A login by OpenID that fails has no user name here; `controlplane.oidc` records it.
    email = credentials.get("username")
    if request is not None and email:
        record_refusal("login.fail", str(email), request, "wrong email or password")


@receiver(factor_signals.authentication_failed)
def on_wrong_code(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    record_refusal("login.fail", user.email, request, "wrong second factor")


@receiver(account_signals.password_changed)
@receiver(account_signals.password_set)
def on_new_password(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    record("account.change_password", user, request)


@receiver(account_signals.password_reset)
def on_password_reset(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    record("account.reset_password", user, request)


@receiver(account_signals.email_confirmed)
def on_confirmed_email(
    sender: Any, request: HttpRequest, email_address: EmailAddress, **kwargs: Any
) -> None:
    record("account.confirm_email", email_address.user, request, email=email_address.email)


@receiver(account_signals.email_changed)
def on_changed_email(
    sender: Any,
    request: HttpRequest,
    user: User,
    from_email_address: EmailAddress | None,
    to_email_address: EmailAddress,
    **kwargs: Any,
) -> None:
    if from_email_address is None:  # the first confirmation of a new account
        return
    # The user name equals the email: it is what people log in with.
    User.objects.filter(pk=user.pk).update(username=to_email_address.email)
    record("account.change_email", user, request, email=to_email_address.email)


@receiver(factor_signals.authenticator_added)
def on_new_factor(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record("account.add_second_factor", user, request, type=authenticator.type)


@receiver(factor_signals.authenticator_reset)
def on_new_codes(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record("account.new_recovery_codes", user, request)


@receiver(factor_signals.authenticator_removed)
def on_removed_factor(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record("account.remove_second_factor", user, request, type=authenticator.type)
