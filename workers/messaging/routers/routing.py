"""What is the same for all routers of an installation: their engine, and the auth service."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from workers.messaging.certificates import KeyPair

# Engines whose routers cannot connect to each other.
_WITHOUT_MESH = frozenset({"devrouter"})


@dataclass(frozen=True)
class Routing:
    """The router engine, and the auth service that checks the logins of clients at routers.

    ``authority`` returns the control authority at a given time. It signs the client certificate by
    which the auth service knows the space of a router.
    """

    engine: str
    auth_host: str
    auth_port: int
    authority: Callable[[datetime], KeyPair]

    @property
    def has_mesh(self) -> bool:
        """Whether this engine supports several routers in a space. Otherwise each space has one."""
        return self.engine not in _WITHOUT_MESH
