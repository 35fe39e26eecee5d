"""Short-lived bearer tokens of a person (``wps_…``), issued by POST /session and /signup.

* A token acts for the person in all of their tenants, with the roles that they have when it is
  used. A token that begins with ``wp_`` belongs to one tenant instead (``tenants.actions``).
* A token is stored as a row of Django's session table, under a hash of the token, so whoever reads
  the table learns no token. The row has none of Django's login keys, so it is no session of the
  portal.
* A token ends after twelve hours or at logout. It ends earlier if the person's password changes, if
  the account is disabled, or if the session is ended, such as in the portal's list of sessions.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from controlplane.accounts import person_sessions
from tenants.models import User

PREFIX = "wps_"
LIFETIME = timedelta(hours=12)  # of a person's token, and of the session behind it


def issue(user: User, now: datetime, request: HttpRequest | None = None) -> tuple[str, datetime]:
    """Create and store a token of ``user``; return its text and when it expires.

    The caller must have authenticated the user. ``request`` says from where, for the user's list of
    sessions; without it the token is not in the list.
    """
    token = PREFIX + secrets.token_urlsafe(24)
    session = SessionStore()
    session["api_user_id"] = user.pk
    session["api_auth_hash"] = user.get_session_auth_hash()
    session.set_expiry(now + LIFETIME)
    # Set after the data: Django drops a key that it looks up and does not find in the table.
    session._session_key = row_key(token)
    session.save(must_create=True)
    if request is not None:
        person_sessions.add(request, user, row_key(token))
    return token, now + LIFETIME


def find(token: str) -> User | None:
    """Return the person who owns the token with the text ``token``.

    None if the token is unknown or expired, if the person's password has changed since it was
    issued, or if the account is disabled.
    """
    row = SessionStore(session_key=row_key(token)).load()
    if "api_user_id" not in row:
        return None
    user = User.objects.filter(pk=row["api_user_id"], is_active=True).first()
    if user is None:
        return None
    # This hash depends on the password, so a new password ends all tokens of the person.
    unchanged = constant_time_compare(row["api_auth_hash"], user.get_session_auth_hash())
    return user if unchanged else None


def end(token: str) -> None:
    """Delete the token with the text ``token``, so that ``find`` returns None. Idempotent."""
    SessionStore().delete(row_key(token))


def row_key(token: str) -> str:
    """Return the key of the session row that stores ``token``: a hash of the token's text."""
    # The session table's key holds 40 characters: 160 bits of the hash of 192 random bits.
    return hashlib.sha256(token.encode()).hexdigest()[:40]
