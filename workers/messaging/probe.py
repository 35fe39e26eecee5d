"""Probe a broker: send one message through an address and read it back.

The address is always an internal twin (same kind, same broker or routers as the tenants'
addresses), so that no tenant sees the message and no billed counter changes. Called by the probe
step.
"""

import secrets
import socket
import time

from proton import Message, ProtonException
from proton.reactor import Selector

from workers.messaging import management
from workers.messaging.observed import ManagementTarget

_LIFETIME_SECONDS = 30  # messages of a killed probe expire after this time


class ProbeFailed(Exception):
    """The message did not come back; the text says at which address and why."""


def through_broker(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send and receive one durable message at ``address`` of a broker; return the seconds it took.

    Raises:
        ProbeFailed: the broker refused the message, or it did not come back in time.
        Unreachable: the broker does not answer.
    """
    connection = management.open_connection(
        target, purpose="probe", timeout_seconds=timeout_seconds
    )
    begin = time.monotonic()
    try:
        mark = secrets.token_hex(8)
        # With the selector, concurrent probes and leftovers of killed ones do not get mixed up.
        receiver = connection.create_receiver(
            address, credit=1, options=Selector(f"waypost_probe = '{mark}'")
        )
        message = Message(
            body=mark, durable=True, ttl=_LIFETIME_SECONDS, properties={"waypost_probe": mark}
        )
        connection.create_sender(address).send(message, timeout=timeout_seconds)
        receiver.receive(timeout=timeout_seconds)
        receiver.accept()
        # Closing waits for the peer, so the broker has the acknowledgement before we report
        # success.
        receiver.close()
    except (ProtonException, OSError) as error:
        raise ProbeFailed(f"{address}: {error or type(error).__name__}") from error
    finally:
        management.close_quietly(connection)
    return time.monotonic() - begin


def is_closed(host: str, port: int, timeout_seconds: float = 0.5) -> bool:
    """Return whether the host refuses connections at ``port``; False if it does not answer."""
    try:
        socket.create_connection((host, port), timeout_seconds).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
