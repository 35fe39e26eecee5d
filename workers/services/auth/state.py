"""Hold the users and permissions of all spaces: the *picture*, and its encrypted copy on disk.

A picture is immutable: ``watcher`` replaces it as a whole, and ``server`` reads it. While the
database is unavailable, the last picture stays in use. A replica that starts at such a time reads
the picture from the copy on disk.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import structlog

from controlplane.core import secrets
from controlplane.core.errors import Unavailable
from controlplane.core.files import write_atomically
from controlplane.core.instance_names import InstanceId, Kind
from plans.catalog.definitions import MAX_ROUTERS
from workers.messaging import patterns

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Verifier:
    """What a password is checked against by SCRAM-SHA-256 (RFC 5802 section 3).

    Salt and keys are in base64. The password cannot be computed from them.
    """

    salt: str
    iterations: int
    stored_key: str
    server_key: str


@dataclass(frozen=True)
class KnownUser:
    """A messaging user who can log in.

    ``permissions``: {address pattern: operations (``send``, ``recv``)}.
    """

    name: str
    verifier: Verifier
    permissions: Mapping[str, tuple[str, ...]]

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Return the user that ``stored`` describes: the result of ``asdict``, read from JSON."""
        permissions = {
            pattern: tuple(operations) for pattern, operations in stored["permissions"].items()
        }
        return cls(stored["name"], Verifier(**stored["verifier"]), permissions)


@dataclass(frozen=True)
class SpaceUsers:
    """The users of one space, and what decides about their logins and permissions.

    * ``send_withdrawn``: none of them may send.
    * ``users``: by name.
    * ``addresses``: the addresses of a standard space as clients name them (a subscription:
      ``<topic>::<name>``); none for a brokered space.
    * ``read_only``: those of ``addresses`` to which no client may send.
    * ``router_patches``: the patches that all routers of the space have.
    """

    send_withdrawn: bool = False
    users: Mapping[str, KnownUser] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    router_patches: tuple[str, ...] = ()

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Return the users that ``stored`` describes: the result of ``asdict``, read from JSON."""
        users = {name: KnownUser.of_stored(user) for name, user in stored["users"].items()}
        # A copy written by an older version has no patches: only PLAIN is offered until the next
        # read of the database.
        patches = tuple(stored.get("router_patches", ()))
        read_only = tuple(stored.get("read_only", ()))
        addresses = tuple(stored["addresses"])
        return cls(bool(stored["send_withdrawn"]), users, addresses, read_only, patches)

    def grants_of(self, user: KnownUser) -> dict[str, list[str]]:
        """Return what ``user`` may do now: {address: operations}.

        The tenant's patterns are resolved to the existing addresses. While sending is not
        withdrawn, reply addresses are added, which end in ``*``. A router compares each key with
        the name that a client requests. Patterns of tenants would be unsafe:

        * ``*`` permits everything, including the router's own management.
        * A final ``*`` does so too: when it routes, the router drops everything before ``:/``, so
          ``a/x:/$management`` begins with ``a/`` and leads to ``$management``.

        A router also ends a key at a comma, so addresses with a comma are left out, and so are
        addresses on which the user has no permission. Source: Qpid Dispatch 1.19, policy.c and
        remote_sasl.c, and iterator.c for ``:/``.
        """
        named = {
            # The permission to read a subscription is that of its topic.
            address: self._operations(user, address.split("::", 1)[0])
            for address in self.addresses
            if "," not in address
        }
        granted = {address: operations for address, operations in named.items() if operations}
        if self.send_withdrawn:
            return granted
        return granted | _reply_grants(
            {operation for operations in granted.values() for operation in operations}
        )

    def _operations(self, user: KnownUser, address: str) -> list[str]:
        found = {
            operation
            for pattern, operations in user.permissions.items()
            if patterns.matches(pattern, address)
            for operation in operations
        }
        is_closed = self.send_withdrawn or address in self.read_only
        return sorted(found - {"send"} if is_closed else found)


# Reply addresses, of two kinds.
# A client that attaches a receiver with a dynamic source gets a temporary address of its router,
# ``amqp:/_topo/0/<router>/temp.<random>``. No other client may receive from it. The names of all
# routers are listed, because ``router-*`` would also match ``amqp:/_topo/0/router-0/$management``.
# Qpid JMS attaches a sender with a dynamic target instead. It gets ``amqp:/_$temp.<random>`` and
# attaches a receiver to it. Another user of the same space who learns the name could do so too.
# The final ``*`` is safe in both: the router cuts the host at the first ``:/``, which comes before
# the ``*``. Source: Qpid Dispatch, core/router_core.c and modules/address_lookup_client.
_REPLY_ADDRESSES = tuple(
    f"amqp:/_topo/0/{InstanceId(Kind.ROUTER, ordinal).name}/temp.*"
    for ordinal in range(MAX_ROUTERS)
)
_TEMPORARY_QUEUES = "amqp:/_$temp.*"


def _reply_grants(operations: Collection[str]) -> dict[str, list[str]]:
    """Return {reply address: operations} for a user who has ``operations`` on any address.

    Users who may receive requests may send replies; users who may send requests may read replies.
    """
    granted = {}
    if "recv" in operations:
        granted = {address: ["send"] for address in (*_REPLY_ADDRESSES, _TEMPORARY_QUEUES)}
    if "send" in operations:
        granted[_TEMPORARY_QUEUES] = ["recv", *granted.get(_TEMPORARY_QUEUES, [])]
    return granted


Picture = Mapping[str, SpaceUsers]  # by space id


class State:
    """Holds the current ``picture``, which is None before the first one; ``file`` has its copy.

    Call ``restore`` at the start. The picture is replaced as a whole, so other threads may read it
    without a lock.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._written: Picture | None = None  # what the copy on disk holds
        self.picture: Picture | None = None

    def restore(self) -> None:
        """Load the picture from its copy on disk; it stays None if the copy cannot be used.

        A missing copy is normal. One that cannot be read or decrypted is logged as an error.
        """
        try:
            stored = json.loads(secrets.decrypt(self._file.read_text()))
            self.picture = {space: SpaceUsers.of_stored(users) for space, users in stored.items()}
            self._written = self.picture
        except FileNotFoundError:
            return
        except (Unavailable, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.error(
                "the stored users cannot be read; logins fail until the database answers",
                file=str(self._file),
                error=type(error).__name__,
            )

    def replace(self, picture: Picture) -> None:
        """Use ``picture`` from now on; write its copy to disk if the copy differs.

        If the file cannot be written, logins go on with the new picture, and the next call tries
        to write it again. Otherwise a restart without the database would let users in whose access
        was revoked.
        """
        self.picture = picture
        if picture == self._written:
            return  # most reads find no change; this saves the encryption and the write
        try:
            text = json.dumps({space: asdict(users) for space, users in picture.items()})
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._file, secrets.encrypt(text), mode=0o600)
            self._written = picture
        except OSError as error:
            logger.error("the stored users cannot be written", error=str(error))
