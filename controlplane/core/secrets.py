"""Encrypt secrets for the database, with keys that are kept outside the database.

Keys come from ``settings.SECRET_KEYS`` (Fernet keys, newest first). The first key encrypts, and
every key decrypts. A new key goes in front. An old key may be dropped only when no stored secret
needs it any more; Waypost has no command that encrypts stored secrets again.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from controlplane.core.errors import Unavailable


def encrypt(plain: str) -> str:
    """Return ``plain`` encrypted with the first key, as ASCII text for a database column."""
    return _fernet().encrypt(plain.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Return the plain text of ``encrypted``, which ``encrypt`` returned.

    Raises:
        Unavailable: ``secret.key_missing``: none of the configured keys decrypts the text.
    """
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise Unavailable(
            "A stored secret cannot be decrypted: put the key that encrypted it back into "
            "WAYPOST_SECRET_KEYS.",
            code="secret.key_missing",
        ) from None


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.SECRET_KEYS])
