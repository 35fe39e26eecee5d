"""Build the password verifiers of messaging users: values that check a password, not reveal it.

There are two forms, one for each server that checks logins:

- SCRAM-SHA-256 (RFC 5802, RFC 7677), for the auth service, which routers ask.
- Artemis' own PBKDF2-HMAC-SHA1 form, for the properties file of users that a broker reads.
"""

import base64
import hashlib
import hmac
import secrets

SCRAM_ITERATIONS = 16384  # RFC 7677 asks for at least 4096
ARTEMIS_ITERATIONS = 1024  # the value that the broker's DefaultSensitiveStringCodec uses itself


def build(password: str) -> dict[str, object]:
    """Return both verifiers of ``password``, with new salts, for ``MessagingUser.verifiers``.

    Slow on purpose: the iterations make guessing a password from a verifier expensive. Call it
    before anything is locked.
    """
    return {"scram-sha-256": _scram(password), "artemis": _artemis(password)}


def _scram(password: str) -> dict[str, object]:
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, SCRAM_ITERATIONS)
    # StoredKey is H(ClientKey) (RFC 5802, section 3), so nobody can log in with a stolen row.
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return {
        "salt": _base64(salt),
        "iterations": SCRAM_ITERATIONS,
        "stored_key": _base64(hashlib.sha256(client_key).digest()),
        "server_key": _base64(server_key),
    }


def _artemis(password: str) -> str:
    salt = secrets.token_bytes(32)
    digest = hashlib.pbkdf2_hmac("sha1", password.encode(), salt, ARTEMIS_ITERATIONS, 64)
    return f"ENC({ARTEMIS_ITERATIONS}:{salt.hex().upper()}:{digest.hex().upper()})"


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
