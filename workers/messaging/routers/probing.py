"""A message through a router and back, over an internal twin. Called by the driver.

Twins of stored addresses go through the broker behind the router, so one round trip shows the whole
way. What a killed probe left behind is recognised by its mark and thrown away.
"""

import secrets
import time

from proton import Endpoint, Message, ProtonException, Timeout
from proton.utils import BlockingConnection

from workers.messaging import management
from workers.messaging.observed import ManagementTarget
from workers.messaging.probe import ProbeFailed

_LIFETIME_SECONDS = 30


def through_router(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send and receive one message at ``address``; return the seconds it took.

    Raises:
        ProbeFailed: it was refused, or did not come back in time.
        Unreachable: the router does not answer.
    """
    connection = management.open_connection(
        target, purpose="probe", timeout_seconds=timeout_seconds
    )
    begin = time.monotonic()
    try:
        _round_trip(connection, address, begin + timeout_seconds)
    except (ProtonException, OSError) as error:
        raise ProbeFailed(f"{address}: {error or type(error).__name__}") from error
    finally:
        management.close_quietly(connection)
    return time.monotonic() - begin


def _round_trip(connection: BlockingConnection, address: str, deadline: float) -> None:
    mark = secrets.token_hex(8)
    receiver = connection.create_receiver(address, credit=10)
    sender = connection.create_sender(address)
    # On a direct address the outcome is the receiver's own, so nothing may wait for it here.
    sender.link.send(Message(body=mark, durable=True, ttl=_LIFETIME_SECONDS))
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Timeout("no answer in time")
        message = receiver.receive(timeout=left)
        receiver.accept()
        if message.body == mark:
            break
    # Closing waits for the peer, so the acknowledgement is on its way before we say it works.
    receiver.link.close()
    connection.wait(lambda: bool(receiver.link.state & Endpoint.REMOTE_CLOSED), timeout=1)
