"""SASL mechanisms: decide from a client's messages and a verifier whether a login succeeds.

No sockets, no clock. Sources: RFC 4616 (PLAIN), RFC 5802 with RFC 7677 (SCRAM-SHA-256). A login
with an unknown user name takes the same steps and the same time as one with a wrong password.
Called by ``server``.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from workers.services.auth.state import KnownUser, Verifier

MECHANISMS = ("SCRAM-SHA-256", "PLAIN")
# For routers that relay SCRAM in a way which strict clients refuse. All listeners for clients use
# TLS, so PLAIN passwords are encrypted.
PLAIN_ONLY = ("PLAIN",)
_ITERATIONS = 16384
# Derives the salts for unknown users. The salt of a name stays the same while the process runs, so
# that repeated logins do not reveal which users exist.
_DECOY_KEY = secrets.token_bytes(32)

FindUser = Callable[[str], KnownUser | None]


class Refused(Exception):
    """The login failed, or the client violated the mechanism; the text is for our log only."""


def check_plain(response: bytes, find: FindUser) -> KnownUser:
    """Return the user of a PLAIN response. Slow by design (a key derivation).

    Raises:
        Refused: wrong name or password, or an authorization identity of another user.
    """
    try:
        authorization, name, password = response.decode().split("\0")
    except ValueError:
        raise Refused("malformed PLAIN response") from None
    if authorization not in ("", name):
        raise Refused("the authorization identity is another user's")
    user = find(name)
    verifier = user.verifier if user else _decoy(name)
    salt = base64.b64decode(verifier.salt)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, verifier.iterations)
    stored_key = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
    # Compare first, also for unknown users: the time must not reveal which users exist.
    if not hmac.compare_digest(stored_key, base64.b64decode(verifier.stored_key)) or user is None:
        raise Refused("wrong name or password")
    return user


@dataclass
class ScramExchange:
    """One SCRAM-SHA-256 conversation: ``begin`` once, then ``finish`` once."""

    find: FindUser
    nonce: str = ""
    _bare: str = ""
    _server_first: str = ""
    _gs2: str = ""
    _user: KnownUser | None = None
    _verifier: Verifier | None = None

    def begin(self, client_first: bytes) -> bytes:
        """Return the server-first message. Raises ``Refused`` if client-first is malformed."""
        self._gs2, self._bare, fields = _client_first(client_first)
        # RFC 5802 section 5.1: "," and "=" are escaped in names, and "=3D" must come last.
        name = fields["n"].replace("=2C", ",").replace("=3D", "=")
        self._user = self.find(name)
        self._verifier = self._user.verifier if self._user else _decoy(name)
        self.nonce = fields["r"] + (self.nonce or secrets.token_urlsafe(18))
        self._server_first = f"r={self.nonce},s={self._verifier.salt},i={self._verifier.iterations}"
        return self._server_first.encode()

    def finish(self, client_final: bytes) -> tuple[KnownUser, bytes]:
        """Return the user and the server-final message.

        Raises:
            Refused: the proof is wrong or the message is malformed.
        """
        text = _text(client_final)
        without_proof, _, proof_text = text.rpartition(",p=")
        fields = _fields(without_proof)
        binding = base64.b64encode(self._gs2.encode()).decode()
        if fields.get("c") != binding or fields.get("r") != self.nonce or self._verifier is None:
            raise Refused("the channel binding or the nonce does not match")
        signed = f"{self._bare},{self._server_first},{without_proof}".encode()
        if not self._is_proof(_base64(proof_text), signed) or self._user is None:
            raise Refused("wrong name or password")
        signature = _hmac(base64.b64decode(self._verifier.server_key), signed)
        return self._user, b"v=" + base64.b64encode(signature)

    def _is_proof(self, proof: bytes, signed: bytes) -> bool:
        assert self._verifier is not None
        stored_key = base64.b64decode(self._verifier.stored_key)
        # RFC 5802 section 3: the proof is ClientKey XOR ClientSignature.
        client_key = bytes(a ^ b for a, b in zip(proof, _hmac(stored_key, signed), strict=False))
        return hmac.compare_digest(hashlib.sha256(client_key).digest(), stored_key)


def _client_first(message: bytes) -> tuple[str, str, dict[str, str]]:
    text = _text(message)
    parts = text.split(",", 2)
    # "n": the client does not support channel binding. "y": it does, and assumes that the server
    # does not, which is true here. "p=…" requires channel binding.
    if len(parts) != 3 or parts[0] not in ("n", "y") or parts[1]:
        raise Refused("channel binding and authorization identities are not supported")
    fields = _fields(parts[2])
    if not fields.get("n") or not fields.get("r"):
        raise Refused("client-first lacks a name or a nonce")
    return f"{parts[0]},{parts[1]},", parts[2], fields


def _fields(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {key: value for key, _, value in pairs}


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("not base64") from None


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _decoy(name: str) -> Verifier:
    salt = base64.b64encode(_hmac(_DECOY_KEY, name.encode())[:16]).decode()
    nothing = base64.b64encode(bytes(32)).decode()
    return Verifier(salt, _ITERATIONS, stored_key=nothing, server_key=nothing)
