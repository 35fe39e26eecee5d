"""Find free loopback ports for embedded servers, and claim them until the servers listen."""

import errno
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

# The range of ports that are stored and used again. It is below the range of the local ports of
# outgoing connections (Linux: net.ipv4.ip_local_port_range), so that no such connection takes a
# stored port by chance. Instances of spaces have ports from 21000 on
# (``workers.infra.local.files``).
_STABLE = range(20000, 21000)


def free_port() -> int:
    """Return a TCP port that is free on 127.0.0.1 now, for a server that starts at once.

    The port is in the range of outgoing connections, so do not store it. Nothing reserves it.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(host: str, port: int, timeout_seconds: float = 0.2) -> bool:
    """Return whether something accepts TCP connections at this host and port."""
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds):
            return True
    except OSError:
        return False


def is_free(port: int) -> bool:
    """Return whether a server could listen on 127.0.0.1 at ``port`` now."""
    with socket.socket() as probe:
        # As servers do: connections of an ended server in TIME_WAIT do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def reserve_port() -> int:
    """Return a random port that may be stored: no outgoing connection takes it.

    Now it is free, and nobody claims it. Despite the name, nothing keeps other programs from it
    afterwards; ``Claims`` does.
    """
    with claiming() as claims:
        return claims.take_any()


class Claims:
    """Ports on which servers will listen soon, claimed so that no two commands choose the same.

    A claim only keeps other ``Claims`` away. It is an abstract unix socket named after the port:
    only one process on a machine can bind a name, and the kernel frees it when the process ends.
    Source: unix(7), "Abstract sockets". Create an object with ``claiming``.
    """

    def __init__(self) -> None:
        self._claimed: dict[int, socket.socket] = {}

    def take(self, port: int) -> bool:
        """Claim ``port`` and return True; False if another ``Claims`` has it or a server listens.

        Idempotent, as long as no server listens.
        """
        if port not in self._claimed:
            claim = socket.socket(socket.AF_UNIX)
            try:
                claim.bind(f"\0waypost-port-{port}")
            except OSError as error:
                claim.close()
                if error.errno != errno.EADDRINUSE:
                    raise
                return False
            self._claimed[port] = claim
        # Also checked, because most programs use no claims.
        if is_free(port):
            return True
        self._claimed.pop(port).close()
        return False

    def take_any(self) -> int:
        """Claim and return a random free port that may be stored and is not claimed here yet."""
        while (port := random.choice(_STABLE)) in self._claimed or not self.take(port):
            pass
        return port

    def release(self) -> None:
        """Give up all claims. Another ``Claims`` can then take ports on which no server listens."""
        for claim in self._claimed.values():
            claim.close()
        self._claimed.clear()


@contextmanager
def claiming() -> Iterator[Claims]:
    """Yield a new, empty ``Claims``, whose claims last until the block ends."""
    claims = Claims()
    try:
        yield claims
    finally:
        claims.release()
