"""Short-lived bearer tokens of a person (``wps_…``), made by logging in at POST /session.

They stand for the person in all of their tenants with the roles of the moment, unlike ``wp_``
tokens, which are a tenant's. Kept as rows of Django's session table under a hash of the token, so
that reading the table gives no token away; the row carries none of Django's login keys, so it is
worthless as a portal cookie. A changed password ends them.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import constant_time_compare

from tenants.models import User

PREFIX = "wps_"
LIFETIME = timedelta(hours=12)


def issue(user: User, now: datetime) -> tuple[str, datetime]:
    """Return a new token of ``user`` and when it ends."""
    token = PREFIX + secrets.token_urlsafe(24)
    session = SessionStore()
    session["api_user_id"] = user.pk
    session["api_auth_hash"] = user.get_session_auth_hash()
    session.set_expiry(now + LIFETIME)
    # Set last: looking for a key that is not there yet makes Django forget the key.
    session._session_key = _row_key(token)
    session.save(must_create=True)
    return token, now + LIFETIME


def find(token: str) -> User | None:
    """Return the active person behind ``token``, or None when it is unknown or has ended."""
    row = SessionStore(session_key=_row_key(token)).load()
    if "api_user_id" not in row:
        return None
    user = User.objects.filter(pk=row["api_user_id"], is_active=True).first()
    if user is None:
        return None
    unchanged = constant_time_compare(row["api_auth_hash"], user.get_session_auth_hash())
    return user if unchanged else None


def end(token: str) -> None:
    """Make ``token`` worthless from now on; idempotent."""
    SessionStore().delete(_row_key(token))


def _row_key(token: str) -> str:
    # The session table's key holds 40 characters: 160 bits of the hash of 192 random bits.
    return hashlib.sha256(token.encode()).hexdigest()[:40]
