"""The two adapters of django-allauth: mail, rate limits, and the encryption of second factors."""

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as request_context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib.auth import login as start_session
from django.db import transaction
from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from controlplane.accounts import login_audit, person_sessions
from controlplane.core import secrets as encryption
from controlplane.core import throttling
from controlplane.core.errors import Denied
from tenants.models import TenantIdentity, User
from tenants.notifications import outbox

LOCAL_BACKEND = "django.contrib.auth.backends.ModelBackend"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # the library has no types
    """Makes allauth's accounts work as Waypost's.

    Mails are plain text and go to the outbox. Links begin with PUBLIC_URL. ``core.throttling``
    limits logins.
    """

    error_messages: Mapping[str, Any] = {
        **DefaultAccountAdapter.error_messages,
        # One text for both mistakes: it must not reveal who has an account.
        "email_password_mismatch": "Email or password is wrong. Try again, or sign up.",
        "invalid_login": "Email or password is wrong. Try again, or sign up.",
        "incorrect_code": "The code is wrong, too old or used already. Enter the newest one.",
        "too_many_login_attempts": "Too many attempts. Try again in some minutes.",
        "rate_limited": "Too many attempts. Try again in some minutes.",
    }

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt before the password is checked.

        Raises:
            ValidationError: over a limit. ``request.refusal`` is then the ``RateLimited``.
        """
        try:
            request.attempt = throttling.begin_login(request, credentials["email"])  # type: ignore[attr-defined]
        except throttling.TooManyAttempts as error:
            login_audit.record_limit(request, credentials["email"], error)
            request.refusal = error  # type: ignore[attr-defined]
            raise ValidationError(error.message, code=error.error_code) from None

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the user of the email and password; None if they are wrong.

        Raises:
            ValidationError: over a limit.
        """
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            request.attempt.succeeded()  # type: ignore[attr-defined]
        return user

    def pre_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse | None:
        """Check that ``user`` may log in here, before any session begins.

        Raises:
            Denied: the identity provider logs this person in.
        """
        # A passkey from before the account was linked must not bypass the provider.
        if not user.has_usable_password():
            raise Denied("You log in through the identity provider: your account is linked to it.")
        found: HttpResponse | None = super().pre_login(request, user, **login)
        return found

    def login(self, request: HttpRequest, user: User) -> None:
        """Start a session of the portal; the password was checked, or a link from a mail opened."""
        # The library would take the first backend, which is that of the identity provider.
        start_session(request, user, backend=LOCAL_BACKEND)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the caller's network address, or ``0.0.0.0`` if a proxy sent no valid one."""
        return person_sessions.valid_address(request)

    def send_mail(self, template_prefix: str, email: str, context: Mapping[str, Any]) -> None:
        """Write the mail ``<template_prefix>_subject.txt`` and ``_message.txt`` to the outbox.

        A worker sends it to ``email``, and tries again while the mail server is away. The request
        does not wait for the mail server, so its duration does not reveal who has an account.
        """
        values = {**context, "email": email, "portal": settings.PUBLIC_URL}
        # One line: a line break would begin another header of the mail.
        subject = " ".join(render_to_string(f"{template_prefix}_subject.txt", values).split())
        body = render_to_string(f"{template_prefix}_message.txt", values).strip() + "\n"
        link = context.get("activate_url") or context.get("password_reset_url") or ""
        with transaction.atomic():
            outbox.write_to_address(
                "account.mail",
                tenant=None,
                email=email,
                # The outbox drops an event whose key it knows. A mail that a person requests
                # again must be sent again, so each has a new key.
                key=secrets.token_urlsafe(16),
                fields={"subject": subject, "text": body, "link": link},
            )

    def send_password_reset_mail(self, user: User, email: str, context: Mapping[str, Any]) -> None:
        """Send the link for a new password.

        An account without a password that an identity provider logs in gets a note instead.
        """
        # A new password would bypass the provider. If an organization removes its provider, the
        # identities of the provider go too, and its people get the link.
        is_elsewhere = user.oidc_subject or TenantIdentity.objects.filter(user=user).exists()
        if user.has_usable_password() or not is_elsewhere:
            self.send_mail("account/email/password_reset_key", email, context)
        else:
            values = {**context, "password_reset_url": ""}
            self.send_mail("account/email/password_reset_elsewhere", email, values)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link that a mail for a new password has; ``key`` is ``<user>-<token>``."""
        uid, _, token = key.partition("-")
        # Not by the request, whose host name a client chooses.
        return settings.PUBLIC_URL + reverse("account_reset_password_from_key", args=[uid, token])

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Return the link that a mail for the confirmation of an address has."""
        return settings.PUBLIC_URL + reverse("account_confirm_email", args=[emailconfirmation.key])


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # the library has no types
    """Second factors of allauth: their secrets are encrypted by ``core.secrets``."""

    def encrypt(self, text: str) -> str:
        """Return ``text`` encrypted for the database."""
        return encryption.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return the plain text of ``encrypted_text``."""
        return encryption.decrypt(encrypted_text)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the site that passkeys are bound to: the host of PUBLIC_URL, or localhost.

        Browsers accept passkeys on a host name, not on an address such as 127.0.0.1.
        """
        host = urlsplit(settings.PUBLIC_URL).hostname or ""
        asked = request_context.request.get_host().partition(":")[0]
        # The embedded installation's URL has 127.0.0.1, and people open it as localhost.
        return {"id": "localhost" if asked == "localhost" else host, "name": "Waypost"}
