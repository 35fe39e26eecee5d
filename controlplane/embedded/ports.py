"""Free loopback ports for embedded servers."""

import errno
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

# Below the range from which the kernel takes the local ports of outgoing connections, so that a
# remembered port is not found taken by chance (Linux: net.ipv4.ip_local_port_range).
# Instances of spaces remember theirs from 21000 on (``workers.infra.local.files``).
_STABLE = range(20000, 21000)


def free_port() -> int:
    """Return a TCP port that is free on 127.0.0.1 now; the caller should bind it soon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(host: str, port: int, timeout_seconds: float = 0.2) -> bool:
    """Return whether something accepts TCP connections there."""
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds):
            return True
    except OSError:
        return False


def is_free(port: int) -> bool:
    """Return whether a server could listen on 127.0.0.1 at ``port`` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def reserve_port() -> int:
    """Return a free port worth remembering."""
    while True:
        port = random.choice(_STABLE)
        if is_free(port):
            return port


class Claims:
    """Ports where servers are about to listen, kept from every other process that claims.

    A claim is an abstract unix socket named after the port: one of a name on a machine, and gone
    with its process. Source: unix(7), "Abstract sockets". Made by ``claiming``.
    """

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def take(self, port: int) -> bool:
        """Claim a port; False when another process claims it or something listens there."""
        if port not in self._held:
            claim = socket.socket(socket.AF_UNIX)
            try:
                claim.bind(f"\0waypost-port-{port}")
            except OSError as error:
                claim.close()
                if error.errno != errno.EADDRINUSE:
                    raise
                return False
            self._held[port] = claim
        if is_free(port):
            return True
        self._held.pop(port).close()
        return False

    def take_any(self) -> int:
        """Claim a free port worth remembering, none that we hold already, and return it."""
        while (port := random.choice(_STABLE)) in self._held or not self.take(port):
            pass
        return port

    def release(self) -> None:
        """Let others have the ports where nothing listens by now."""
        for claim in self._held.values():
            claim.close()
        self._held.clear()


@contextmanager
def claiming() -> Iterator[Claims]:
    """Yield claims that last as long as the block."""
    claims = Claims()
    try:
        yield claims
    finally:
        claims.release()
