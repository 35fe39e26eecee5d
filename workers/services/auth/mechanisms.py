"""Decide from a client's SASL messages and a user's verifier whether a login succeeds.

Nothing here uses a socket or the clock. ``server`` calls it. Sources: RFC 4616 (PLAIN), RFC 5802
with RFC 7677 (SCRAM-SHA-256). A login with an unknown user name takes the same steps and the same
time as one with a wrong password, so that nobody can find out which users exist.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scramp import ScramException, ScramMechanism

from workers.services.auth.state import KnownUser, Verifier

MECHANISMS = ("SCRAM-SHA-256", "PLAIN")  # the stronger one first
# For routers that relay SCRAM in a way which strict clients refuse. All listeners for clients use
# TLS, so PLAIN passwords are encrypted.
PLAIN_ONLY = ("PLAIN",)
_SCRAM = ScramMechanism("SCRAM-SHA-256")
# In bytes. The preparation of a name (RFC 4013) takes about 12 microseconds for each character, in
# the event loop and before the client has proved anything. Our names have at most 63 characters.
_LONGEST_CLIENT_FIRST = 512
_ITERATIONS = 16384  # as many as for real users, so that the time tells nothing
# Derives the salts for unknown users. The salt of a name stays the same while the process runs, so
# that repeated logins do not reveal which users exist.
_DECOY_KEY = secrets.token_bytes(32)

FindUser = Callable[[str], KnownUser | None]


class Refused(Exception):
    """A login failed, or the client violated the mechanism; the text is for the log only."""


def check_plain(response: bytes, find: FindUser) -> KnownUser:
    """Return the user whose name and password are in ``response``, a PLAIN initial response.

    ``find`` returns the user with a name, or None. The call is slow by design, because it derives a
    key from the password: do not make it in the event loop.

    Raises:
        Refused: wrong name or password, an authorization identity of another user, or a malformed
            response.
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
    # Not by scramp, which would prepare the password (RFC 4013). The stored keys were derived from
    # the password as it was typed.
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, verifier.iterations)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    # Compare first, also for unknown users: the time must not reveal which users exist.
    if not hmac.compare_digest(stored_key, base64.b64decode(verifier.stored_key)) or user is None:
        raise Refused("wrong name or password")
    return user


class ScramExchange:
    """The server's side of one SCRAM-SHA-256 login: call ``begin`` once, then ``finish`` once.

    The library scramp implements the protocol. ``find`` returns the user with a name, or None. For
    an unknown name a decoy verifier is used, so that both kinds of failure take the same steps.
    ``nonce`` is the server's part of the nonce; None makes a random one.
    """

    def __init__(self, find: FindUser, nonce: str | None = None) -> None:
        self._find = find
        self._user: KnownUser | None = None
        self._server = _SCRAM.make_server(self._look_up, s_nonce=nonce)

    def begin(self, client_first: bytes) -> bytes:
        """Return the server-first message to send; an unknown user name gets one too.

        Raises:
            Refused: client-first is malformed, too long, or asks for what we do not offer.
        """
        if len(client_first) > _LONGEST_CLIENT_FIRST:
            raise Refused("client-first is too long")
        with self._refusing():
            self._server.set_client_first(client_first.decode())
            return str(self._server.get_server_first()).encode()

    def finish(self, client_final: bytes) -> tuple[KnownUser, bytes]:
        """Return the user who has logged in, and the server-final message to send.

        Raises:
            Refused: the name is unknown, the proof is wrong, or the message is malformed.
        """
        with self._refusing():
            self._server.set_client_final(client_final.decode())
            server_final = str(self._server.get_server_final())
        # The proof is checked first, also for unknown users: nothing matches a decoy.
        if self._user is None:
            raise Refused("wrong name or password")
        return self._user, server_final.encode()

    def _look_up(self, name: str) -> tuple[bytes, bytes, bytes, int]:
        """Return what scramp needs of a user: salt, stored key, server key and iterations."""
        self._user = self._find(name)
        verifier = self._user.verifier if self._user else _decoy(name)
        keys = (verifier.salt, verifier.stored_key, verifier.server_key)
        salt, stored_key, server_key = (base64.b64decode(key) for key in keys)
        return salt, stored_key, server_key, verifier.iterations

    @staticmethod
    @contextmanager
    def _refusing() -> Iterator[None]:
        """Raise ``Refused`` for every error that a wrong message of the client causes here."""
        try:
            yield
        except UnicodeDecodeError:
            raise Refused("not UTF-8") from None
        except ScramException as error:
            raise Refused(str(error)) from error


def _decoy(name: str) -> Verifier:
    """Return a verifier for an unknown user name: no password matches it.

    A name gets the same salt as long as the process runs.
    """
    salt = base64.b64encode(hmac.digest(_DECOY_KEY, name.encode(), "sha256")[:16]).decode()
    nothing = base64.b64encode(bytes(32)).decode()
    return Verifier(salt, _ITERATIONS, stored_key=nothing, server_key=nothing)
