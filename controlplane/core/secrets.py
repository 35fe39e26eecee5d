"""Secrets at rest: authenticated encryption with keys kept outside the database.

Keys come from ``settings.SECRET_KEYS`` (Fernet keys, newest first): the first one seals, all of
them open, so rotation is "put a new key in front, re-seal, drop the old one".
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from controlplane.core.errors import Unavailable


def seal(plain: str) -> str:
    """Return ``plain`` encrypted with the newest key, as text for a database column."""
    return _fernet().encrypt(plain.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the plain text of ``sealed``.

    Raises:
        Unavailable: none of the configured keys opens it.
    """
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unavailable(
            "A stored secret cannot be opened: put the key it was sealed with back into "
            "WAYPOST_SECRET_KEYS.",
            code="secret.key_missing",
        ) from None


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.SECRET_KEYS])
