"""Check the settings of mails and webhooks. ``controlplane.settings`` calls it."""

import re
from collections.abc import Sequence
from ipaddress import ip_network

from django.core.exceptions import ImproperlyConfigured


def mail_security(value: str) -> str:
    """Return ``value``, how the connection to the SMTP server is secured.

    Raises:
        ImproperlyConfigured: it is none of ``starttls``, ``tls`` and ``none``.
    """
    if value not in {"starttls", "tls", "none"}:
        raise ImproperlyConfigured(
            f"WAYPOST_SMTP_SECURITY must be starttls, tls or none, not {value!r}"
        )
    return value


def check_mail(host: str, sender: str, user: str, security: str) -> None:
    """Check that an SMTP server can be used, if there is one.

    Raises:
        ImproperlyConfigured: the sender is no address, or the password of ``user`` would cross the
            network in plain text.
    """
    if host and not re.fullmatch(r"[^@\s]+@[^@\s]+", sender):
        raise ImproperlyConfigured(
            "WAYPOST_SMTP_HOST is set: WAYPOST_MAIL_FROM must be the address that mails come from."
        )
    if host not in {"", "127.0.0.1", "localhost"} and user and security == "none":
        raise ImproperlyConfigured(
            "WAYPOST_SMTP_SECURITY is none: the password of WAYPOST_SMTP_USER would cross the "
            "network in plain text. Use starttls or tls."
        )


def allowed_ranges(found: Sequence[str]) -> list[str]:
    """Return the network ranges to which webhooks may go, such as ``10.0.0.0/8``.

    Raises:
        ImproperlyConfigured: one of them is no range.
    """
    for item in found:
        try:
            ip_network(item)
        except ValueError as error:
            raise ImproperlyConfigured(f"WAYPOST_WEBHOOK_ALLOWED_RANGES: {error}") from error
    return list(found)
