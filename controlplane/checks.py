"""Django system checks: they report settings that are unsafe or contradict each other.

``controlplane.apps`` registers the checks. Django runs them before its commands
(``python -m django``), but not when a server starts. Each server calls ``refuse_source_keys`` at
its start instead.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

# Hosts that only this machine reaches. Plain http is safe there.
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# The default of ``settings.SECRET_KEYS``; everyone can read it in the source.
_TEST_KEYS = "dGVzdC1rZXktb25seS1mb3ItdW5pdC10ZXN0cy0wMDA="
# Setting of mozilla-django-oidc -> the environment variable that operators know.
_OIDC_NEEDS = {
    "OIDC_RP_CLIENT_ID": "WAYPOST_OIDC_CLIENT_ID",
    "OIDC_RP_CLIENT_SECRET": "WAYPOST_OIDC_CLIENT_SECRET",
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "WAYPOST_OIDC_AUTHORIZATION_ENDPOINT",
    "OIDC_OP_TOKEN_ENDPOINT": "WAYPOST_OIDC_TOKEN_ENDPOINT",
    "OIDC_OP_USER_ENDPOINT": "WAYPOST_OIDC_USER_ENDPOINT",
    "OIDC_OP_JWKS_ENDPOINT": "WAYPOST_OIDC_JWKS_ENDPOINT",
}


@register(Tags.security)
def check_oidc(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report settings that make the login of people impossible or unsafe; none if all is well.

    E006: local accounts are off and there is no identity provider. E001: settings of the provider
    are missing. E002: the issuer is neither https nor on this machine. E003: the signature
    algorithm is symmetric. E001 to E003 are checked only if ``OIDC_ISSUER`` is set.
    """
    found: list[CheckMessage] = []
    if not settings.OIDC_ISSUER:
        if not settings.LOCAL_ACCOUNTS_ENABLED:
            found.append(
                Error(
                    "Nobody can log in: WAYPOST_LOCAL_ACCOUNTS_ENABLED is false and no "
                    "WAYPOST_OIDC_ISSUER is set.",
                    id="waypost.E006",
                )
            )
        return found
    missing = [env for name, env in _OIDC_NEEDS.items() if not getattr(settings, name)]
    if missing:
        found.append(
            Error(
                f"WAYPOST_OIDC_ISSUER is set, but not {', '.join(missing)}.",
                hint="Take the endpoints from the issuer's /.well-known/openid-configuration.",
                id="waypost.E001",
            )
        )
    issuer = urlsplit(settings.OIDC_ISSUER)
    if issuer.scheme != "https" and issuer.hostname not in _LOOPBACK:
        found.append(
            Error(
                "WAYPOST_OIDC_ISSUER is neither https nor on this machine.",
                hint="Use https: without it, anyone on the network path could log in as any user.",
                id="waypost.E002",
            )
        )
    # With a symmetric algorithm (HS256) the client secret would be the signing key.
    if not settings.OIDC_RP_SIGN_ALGO.startswith(("RS", "ES", "PS")):
        found.append(
            Error(
                f"WAYPOST_OIDC_SIGN_ALGORITHM {settings.OIDC_RP_SIGN_ALGO!r} is not asymmetric.",
                hint="Use RS256 or ES256.",
                id="waypost.E003",
            )
        )
    return found


def refuse_source_keys() -> None:
    """Raise if ``SECRET_KEY`` or ``SECRET_KEYS`` has the default from the source code.

    The web server, the Celery servers and the auth service call this at their start. A server that
    only this machine reaches is refused too.

    Raises:
        ImproperlyConfigured: a key is the default, and DEBUG is off. The message names the
            environment variable of the key.
    """
    wrong = [error.msg for error in _source_keys()]
    if wrong and not settings.DEBUG:
        raise ImproperlyConfigured(
            f"{' '.join(wrong)} Set keys of your own (`waypost up` and the chart generate them), "
            "or set WAYPOST_DEBUG=true on a test machine."
        )


@register(Tags.security)
def check_secrets(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report default keys from the source code (E004, E005) and an open /metrics (W001).

    Reports nothing if DEBUG is on, or if the host of ``PUBLIC_URL`` is this machine.
    """
    if settings.DEBUG or urlsplit(settings.PUBLIC_URL).hostname in _LOOPBACK:
        return []
    found = _source_keys()
    if not settings.METRICS_TOKEN:
        found.append(
            Warning(
                "/metrics is open to everyone who can reach the server.",
                hint="Set WAYPOST_METRICS_TOKEN and give it to the scraper.",
                id="waypost.W001",
            )
        )
    return found


@register(Tags.security)
def check_mail(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report that mails do not leave the installation (W002); none on this machine."""
    if settings.EMAIL_HOST or urlsplit(settings.PUBLIC_URL).hostname in _LOOPBACK:
        return []
    return [
        Warning(
            "Mails do not leave Waypost: they stay in the mailbox of the operator area.",
            hint="Set WAYPOST_SMTP_HOST and WAYPOST_MAIL_FROM.",
            id="waypost.W002",
        )
    ]


def _source_keys() -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.SECRET_KEY == "only-for-building-and-tests":
        found.append(Error("WAYPOST_SECRET_KEY is the one from the source.", id="waypost.E004"))
    if _TEST_KEYS in settings.SECRET_KEYS:
        found.append(
            Error(
                "WAYPOST_SECRET_KEYS holds the key from the source.",
                hint="Make one with `python -c 'from cryptography.fernet import Fernet; "
                "print(Fernet.generate_key().decode())'`.",
                id="waypost.E005",
            )
        )
    return found
