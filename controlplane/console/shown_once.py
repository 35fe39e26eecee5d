"""Carries a new secret over the redirect after a POST, to the page that shows it once.

The secret waits encrypted in the visitor's session. So a reload of the page does not repeat the
POST, and the secret is in no URL and in no readable row.
"""

from django.http import HttpRequest

from controlplane.core import secrets

_PREFIX = "shown_once:"


def put(request: HttpRequest, name: str, secret: str) -> None:
    """Keep ``secret`` for the next ``take`` of this name in the same session."""
    request.session[_PREFIX + name] = secrets.encrypt(secret)


def take(request: HttpRequest, name: str) -> str:
    """Return the secret with this name and forget it; '' if there is none."""
    # ``pop`` marks the session as changed, so the secret leaves the stored session too.
    encrypted = request.session.pop(_PREFIX + name, "")
    return secrets.decrypt(encrypted) if encrypted else ""
