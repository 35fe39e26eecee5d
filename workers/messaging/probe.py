"""Ready means it works: send one message through an address and read it back.

Always through an internal twin of the address (same kind, same broker or routers), so that no
tenant sees the message and no billed counter moves. Called by the probe step.
"""

import secrets
import socket
import time

from proton import Message, ProtonException
from proton.reactor import Selector
from proton.utils import BlockingConnection

from workers.messaging import management
from workers.messaging.observed import ManagementTarget

_LIFETIME_SECONDS = 30  # what a killed probe leaves behind goes away by itself


class ProbeFailed(Exception):
    """The message did not come back; the text says where it stopped."""


def through_broker(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send and receive one durable message at ``address`` of a broker; return the seconds it took.

    Raises:
        ProbeFailed: it was refused, or did not come back in time.
        Unreachable: the broker does not answer.
    """
    connection = management.open_connection(
        target, purpose="probe", timeout_seconds=timeout_seconds
    )
    begin = time.monotonic()
    try:
        _round_trip(connection, address, timeout_seconds)
    except (ProtonException, OSError) as error:
        raise ProbeFailed(f"{address}: {error or type(error).__name__}") from error
    finally:
        management.close_quietly(connection)
    return time.monotonic() - begin


def is_closed(host: str, port: int, timeout_seconds: float = 0.5) -> bool:
    """Return whether the host refuses connections there; one that does not answer is not judged."""
    try:
        socket.create_connection((host, port), timeout_seconds).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _round_trip(connection: BlockingConnection, address: str, timeout: float) -> None:
    mark = secrets.token_hex(8)
    # The selector keeps two probes at once, and leftovers of a killed one, apart.
    receiver = connection.create_receiver(
        address, credit=1, options=Selector(f"waypost_probe = '{mark}'")
    )
    sender = connection.create_sender(address)
    sender.send(
        Message(body=mark, durable=True, ttl=_LIFETIME_SECONDS, properties={"waypost_probe": mark}),
        timeout=timeout,
    )
    receiver.receive(timeout=timeout)
    receiver.accept()
    # Closing waits for the peer, so the acknowledgement is on its way before we say it works.
    receiver.close()  # type: ignore[no-untyped-call]
