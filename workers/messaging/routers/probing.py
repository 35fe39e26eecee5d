"""Probe a router: send one message through an internal address and read it back.

The probe of a stored kind of address passes the broker behind the router, so one round trip checks
the whole path. Each probe marks its message. Messages with another mark come from a killed probe:
the probe accepts and ignores them. The driver calls this module.
"""

import secrets
import time

from proton import Endpoint, Message, ProtonException, Timeout
from proton.utils import BlockingConnection

from workers.messaging import management
from workers.messaging.observed import ManagementTarget
from workers.messaging.probe import LIFETIME_SECONDS, ProbeFailed


def through_router(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send and receive one message at ``address``; return the seconds it took.

    The time to connect does not count. ``timeout_seconds`` limits the opening of the connection,
    and then sending and receiving together.

    Raises:
        ProbeFailed: the router refused a link, or the message did not come back in time.
        Unreachable: no connection to the router can be opened.
    """
    connection = management.open_connection(
        target, purpose="probe", timeout_seconds=timeout_seconds
    )
    begin = time.monotonic()
    try:
        _round_trip(connection, address, begin + timeout_seconds)
    except (ProtonException, OSError) as error:
        raise ProbeFailed.at(address, error) from error
    finally:
        management.close_quietly(connection)
    return time.monotonic() - begin


def _round_trip(connection: BlockingConnection, address: str, deadline: float) -> None:
    mark = secrets.token_hex(8)
    receiver = connection.create_receiver(address, credit=10)
    sender = connection.create_sender(address)
    # Do not wait for the outcome here: at a direct address there is none before ``accept`` below.
    sender.link.send(Message(body=mark, durable=True, ttl=LIFETIME_SECONDS))
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Timeout("no answer in time")
        message = receiver.receive(timeout=left)
        receiver.accept()
        if message.body == mark:
            break
    # Closing waits for the peer, so the router has the acknowledgement before we report success.
    receiver.link.close()
    connection.wait(lambda: bool(receiver.link.state & Endpoint.REMOTE_CLOSED), timeout=1)
