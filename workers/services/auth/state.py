"""Who may log in where and do what: an immutable picture, and its sealed copy on disk.

The picture is swapped as a whole by ``watcher`` and read by ``server``. With the database away the
copy on disk lets known users in; no readable picture at all means that nobody gets in.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import structlog

from controlplane.core import secrets
from controlplane.core.errors import Unavailable
from plans.catalogue.definitions import MAX_ROUTERS
from workers.messaging import patterns
from workers.messaging.routers.desired import router_name

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Verifier:
    """What checks a password by SCRAM-SHA-256 (RFC 5802 section 3). All but the count: base64."""

    salt: str
    iterations: int
    stored_key: str
    server_key: str


@dataclass(frozen=True)
class KnownUser:
    """A messaging user: how to check it, and {address pattern: ("send", "recv")}."""

    name: str
    verifier: Verifier
    permissions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SpaceUsers:
    """The users of one space by name; with ``send_withdrawn`` none of them may send.

    ``addresses`` are the space's as clients name them (a subscription: ``<topic>::<name>``).
    ``router_patches`` are those that all of its routers have.
    """

    send_withdrawn: bool = False
    users: Mapping[str, KnownUser] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    router_patches: tuple[str, ...] = ()

    def grants_of(self, user: KnownUser) -> dict[str, list[str]]:
        """Return what the user may do now: {address: operations}, never a pattern of the tenant's.

        A router compares a key with the name that a client asks for. To it ``*`` opens everything,
        its own management included, and so does a final ``*``: it drops what stands before ``:/``
        when it routes, so ``a/x:/$management`` begins with ``a/``. It ends a key at a comma.
        Source: Qpid Dispatch 1.19, policy.c and remote_sasl.c, and iterator.c for ``:/``.
        """
        named = {
            address: self._operations(user, address.split("::", 1)[0])
            for address in self.addresses
            if "," not in address
        }
        granted = {address: operations for address, operations in named.items() if operations}
        if not self.send_withdrawn and any("recv" in each for each in granted.values()):
            granted |= {address: ["send"] for address in _REPLY_ADDRESSES}
        return granted

    def _operations(self, user: KnownUser, address: str) -> list[str]:
        found = {
            operation
            for pattern, operations in user.permissions.items()
            if patterns.matches(pattern, address)
            for operation in operations
        }
        return sorted(found - {"send"} if self.send_withdrawn else found)


# Who may read questions may answer them: a client that asks names a temporary address of the router
# it is connected to, ``amqp:/_topo/0/<router>/temp.<random>`` (Qpid Dispatch, core/router_core.c).
# Each router is named because ``router-*`` would also open ``amqp:/_topo/0/router-0/$management``.
# The final ``*`` is safe here: the router cuts the host at the first ``:/``, which is in the part
# before it. Nobody may receive from these addresses but the connection that made one.
_REPLY_ADDRESSES = tuple(
    f"amqp:/_topo/0/{router_name(ordinal)}/temp.*" for ordinal in range(MAX_ROUTERS)
)

Picture = Mapping[str, SpaceUsers]  # by space id


class State:
    """The current picture, or None while nothing is known. Swapped whole, so reads need no lock."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.picture: Picture | None = None

    def restore(self) -> None:
        """Take the copy on disk as the picture; an absent or unreadable one leaves it unknown."""
        try:
            self.picture = _parse(secrets.unseal(self._file.read_text()))
        except FileNotFoundError:
            return
        except (Unavailable, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.error(
                "the stored users cannot be read; nobody can log in until the database answers",
                file=str(self._file),
                error=type(error).__name__,
            )

    def replace(self, picture: Picture) -> None:
        """Take ``picture`` and keep it on disk. A full disk costs the copy, not the logins."""
        if picture == self.picture:
            return
        self.picture = picture
        try:
            _write_private(self._file, secrets.seal(_render(picture)))
        except OSError as error:
            logger.error("the stored users cannot be written", error=str(error))


def _render(picture: Picture) -> str:
    return json.dumps({space: asdict(users) for space, users in picture.items()})


def _parse(text: str) -> Picture:
    return {space: _space(stored) for space, stored in json.loads(text).items()}


def _space(stored: Mapping[str, Any]) -> SpaceUsers:
    users = {name: _user(each) for name, each in stored["users"].items()}
    # A copy that an older version wrote names no patches: PLAIN alone is offered until the rows
    # are read.
    patches = tuple(stored.get("router_patches", ()))
    return SpaceUsers(bool(stored["send_withdrawn"]), users, tuple(stored["addresses"]), patches)


def _user(stored: Mapping[str, Any]) -> KnownUser:
    permissions = {pattern: tuple(each) for pattern, each in stored["permissions"].items()}
    return KnownUser(stored["name"], Verifier(**stored["verifier"]), permissions)


def _write_private(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_suffix(".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    temporary.replace(file)
