"""Probe a broker: send one message through an internal address and read it back.

The probe never uses a tenant's address. Each broker has an internal address of each kind
(``brokers.desired.probe_twins``), so no tenant sees the message and no billed counter changes. The
broker driver calls this module. Routers are probed by ``routers.probing``.
"""

import secrets
import socket
import time
from typing import Self

from proton import Message, ProtonException
from proton.reactor import Selector

from workers.messaging import management
from workers.messaging.observed import ManagementTarget

LIFETIME_SECONDS = 30  # messages of a killed probe expire after this time


class ProbeFailed(Exception):
    """A probe failed, or a listener for clients stays closed; the text says where and why."""

    @classmethod
    def at(cls, address: str, error: Exception) -> Self:
        """Return a ``ProbeFailed`` that names ``address`` and has the text of ``error``."""
        return cls(f"{address}: {str(error) or type(error).__name__}")


def through_broker(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send and receive one durable message at ``address`` of a broker; return the seconds it took.

    The time to connect does not count. ``timeout_seconds`` limits each step: connecting, each
    attach, sending, receiving.

    Raises:
        ProbeFailed: the broker refused a link or the message, or the message did not come back.
        Unreachable: no connection to the broker can be opened.
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
            body=mark, durable=True, ttl=LIFETIME_SECONDS, properties={"waypost_probe": mark}
        )
        connection.create_sender(address).send(message, timeout=timeout_seconds)
        receiver.receive(timeout=timeout_seconds)
        receiver.accept()
        # Closing waits for the peer, so the broker has the acknowledgement before we report
        # success.
        receiver.close()
    except (ProtonException, OSError) as error:
        raise ProbeFailed.at(address, error) from error
    finally:
        management.close_quietly(connection)
    return time.monotonic() - begin


def is_closed(host: str, port: int, timeout_seconds: float = 0.5) -> bool:
    """Return whether ``host`` refuses a connection to ``port``.

    False if it accepts one (which is closed at once), and also if nothing answers in time.
    """
    try:
        socket.create_connection((host, port), timeout_seconds).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
