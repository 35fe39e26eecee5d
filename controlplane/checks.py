"""Django system checks: they report settings that are unsafe or contradict each other.

``controlplane.apps`` registers the checks. Django runs them before its commands
(``python -m django``), but not when a server starts. Each server calls ``refuse_unsafe_settings``
at its start instead.
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
}
# The same for endpoints. If a setting is empty, Waypost discovers the endpoint from the issuer.
_OIDC_ENDPOINTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "WAYPOST_OIDC_AUTHORIZATION_ENDPOINT",
    "OIDC_OP_TOKEN_ENDPOINT": "WAYPOST_OIDC_TOKEN_ENDPOINT",
    "OIDC_OP_USER_ENDPOINT": "WAYPOST_OIDC_USER_ENDPOINT",
    "OIDC_OP_JWKS_ENDPOINT": "WAYPOST_OIDC_JWKS_ENDPOINT",
    "OIDC_OP_LOGOUT_ENDPOINT": "WAYPOST_OIDC_LOGOUT_ENDPOINT",
}

# Errors about the identity provider that let strangers in.
_UNSAFE_PROVIDER = {"waypost.E002", "waypost.E003", "waypost.E010"}


@register(Tags.security)
def check_oidc(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report settings that make the login of people impossible or unsafe.

    E006: local accounts are off and there is no identity provider. E001: settings of the provider
    are missing. E002: the issuer is neither an https URL nor on this machine, or it has a query.
    E003: the signature algorithm is symmetric. E010: an endpoint is neither an https URL nor on
    this machine. All but E006 are checked only if ``OIDC_ISSUER`` is set. No server starts with
    E002, E003 or E010.
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
                hint="Register Waypost as a client of the identity provider.",
                id="waypost.E001",
            )
        )
    if not _is_private(settings.OIDC_ISSUER) or "?" in settings.OIDC_ISSUER:
        found.append(
            Error(
                "WAYPOST_OIDC_ISSUER is neither an https URL without a query nor on this machine.",
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
    return found + _unsafe_endpoints()


def _unsafe_endpoints() -> list[CheckMessage]:
    """Return an error for each endpoint of the provider that is set and unsafe."""
    return [
        Error(
            f"{variable} is neither an https URL nor on this machine.",
            hint="Use https, or leave it empty: Waypost finds it by the issuer.",
            id="waypost.E010",
        )
        for name, variable in _OIDC_ENDPOINTS.items()
        if getattr(settings, name) and not _is_private(getattr(settings, name))
    ]


def _is_private(url: str) -> bool:
    """Return whether nobody on the network path can read or change what is sent to ``url``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    has_login = parts.username is not None or parts.password is not None
    is_encrypted = parts.scheme == "https" and bool(parts.hostname)
    is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return (is_encrypted or is_here) and not has_login and not parts.fragment


def refuse_unsafe_settings() -> None:
    """Raise if the server must not start with its settings.

    The web server, the Celery servers and the auth service call this at their start. They
    refuse an unsafe identity provider on every machine, the default keys from the source code
    unless DEBUG is on, and what ``_unsafe_in_public`` lists where others reach the server.

    Raises:
        ImproperlyConfigured: a setting is unsafe; the message names its environment variable.
    """
    # A pod without a web server has no client secret: what is missing (E001) stops no server.
    provider = [error for error in check_oidc(None) if error.id in _UNSAFE_PROVIDER]
    unsafe = [error.msg for error in (*_unsafe_in_public(), *provider)]
    if unsafe:
        raise ImproperlyConfigured(" ".join(unsafe))
    wrong = [error.msg for error in _source_keys()]
    if wrong and not settings.DEBUG:
        raise ImproperlyConfigured(
            f"{' '.join(wrong)} Set keys of your own (`waypost up` and the chart generate them), "
            "or set WAYPOST_DEBUG=true on a test machine."
        )


@register(Tags.security)
def check_secrets(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report default keys from the source code (E004, E005), and what is unsafe in public.

    E007: DEBUG is on. E008: PUBLIC_URL is plain http. E009: every Host header is accepted. W001:
    nobody can read /metrics. Reports nothing if the host of ``PUBLIC_URL`` is this machine. Does
    not report default keys if DEBUG is on.
    """
    if urlsplit(settings.PUBLIC_URL).hostname in _LOOPBACK:
        return []
    found = _unsafe_in_public() + ([] if settings.DEBUG else _source_keys())
    if not settings.METRICS_TOKEN:
        found.append(
            Warning(
                "/metrics is closed: no WAYPOST_METRICS_TOKEN is set.",
                hint="Set WAYPOST_METRICS_TOKEN and give it to the scraper.",
                id="waypost.W001",
            )
        )
    return found


@register(Tags.security)
def check_mail(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report that mails do not leave the installation (W002).

    Reports nothing if the host of ``PUBLIC_URL`` is this machine.
    """
    if settings.EMAIL_HOST or urlsplit(settings.PUBLIC_URL).hostname in _LOOPBACK:
        return []
    return [
        Warning(
            "Mails do not leave Waypost: they stay in the mailbox of the operator area.",
            hint="Set WAYPOST_SMTP_HOST and WAYPOST_MAIL_FROM.",
            id="waypost.W002",
        )
    ]


def _unsafe_in_public() -> list[CheckMessage]:
    """Return an error for each setting that is unsafe where others reach the server.

    None if the host of ``PUBLIC_URL`` is this machine.
    """
    public = urlsplit(settings.PUBLIC_URL)
    if public.hostname in _LOOPBACK:
        return []
    found: list[CheckMessage] = []
    if settings.DEBUG:
        found.append(
            Error(
                "WAYPOST_DEBUG is true, but WAYPOST_PUBLIC_URL is not this machine: error pages "
                "would show settings and values.",
                id="waypost.E007",
            )
        )
    if public.scheme != "https":
        found.append(
            Error(
                "WAYPOST_PUBLIC_URL is neither https nor this machine: passwords and tokens would "
                "cross the network in clear text.",
                id="waypost.E008",
            )
        )
    if "*" in settings.ALLOWED_HOSTS:
        found.append(
            Error(
                "WAYPOST_ALLOWED_HOSTS accepts every host: name the hosts of the portal.",
                id="waypost.E009",
            )
        )
    return found


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
