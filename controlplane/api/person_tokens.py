"""Short-lived bearer tokens of a person (``wps_…``), issued by POST /session.

* A token acts for the person in all of their tenants, with the roles that they have at that time.
  A ``wp_`` token belongs to one tenant instead.
* The tokens are rows of Django's session table under a hash of the token, so a reader of the table
  learns no token. A row has none of Django's login keys, so it does not work as a portal cookie.
* A change of the password invalidates them.
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
    """Return a new token of ``user`` and its expiry."""
    token = PREFIX + secrets.token_urlsafe(24)
    session = SessionStore()
    session["api_user_id"] = user.pk
    session["api_auth_hash"] = user.get_session_auth_hash()
    session.set_expiry(now + LIFETIME)
    # Set after the data: Django drops a key that it looks up and does not find in the table.
    session._session_key = row_key(token)
    session.save(must_create=True)
    return token, now + LIFETIME


def find(token: str) -> User | None:
    """Return the active person who owns ``token``; None if it is unknown or expired."""
    row = SessionStore(session_key=row_key(token)).load()
    if "api_user_id" not in row:
        return None
    user = User.objects.filter(pk=row["api_user_id"], is_active=True).first()
    if user is None:
        return None
    # The hash depends on the password: a new password ends all tokens of the person.
    unchanged = constant_time_compare(row["api_auth_hash"], user.get_session_auth_hash())
    return user if unchanged else None


def end(token: str) -> None:
    """Invalidate ``token``. Idempotent."""
    SessionStore().delete(row_key(token))


def row_key(token: str) -> str:
    """Return the key of a token's row, from which nobody can compute the token."""
    # The session table's key holds 40 characters: 160 bits of the hash of 192 random bits.
    return hashlib.sha256(token.encode()).hexdigest()[:40]
