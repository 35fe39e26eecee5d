"""Settings that all routers of an installation share: their engine, and the auth service."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from workers.messaging.certificates import KeyPair

# Engines whose routers cannot connect to each other.
_WITHOUT_MESH = frozenset({"devrouter"})


@dataclass(frozen=True)
class Routing:
    """Names the router engine, and the auth service that checks clients' logins.

    ``authority``, called with the time now, returns the key pair of the control authority. This
    authority signs the client certificates of routers, from which the auth service learns the space
    of a router.
    """

    engine: str
    auth_host: str
    auth_port: int
    authority: Callable[[datetime], KeyPair]

    @property
    def has_mesh(self) -> bool:
        """Whether this engine supports several routers in a space. Otherwise each space has one."""
        return self.engine not in _WITHOUT_MESH
