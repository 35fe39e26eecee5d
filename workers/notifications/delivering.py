"""Route new events and send what is due. One worker does it at a time.

Several deliveries are sent at once, in threads. These use no database, so mails for the mailbox of
the operator, which is in the database, are stored without a thread. A slow receiver therefore
delays only the run it is in, and holds one worker process at most.
"""

import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial

import structlog

from controlplane.core import leases
from tenants.notifications import deliveries, routing
from tenants.notifications.deliveries import Outcome
from tenants.notifications.models import Channel, Delivery
from workers.notifications import chats, mail, webhooks

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_AT_ONCE = 16  # deliveries at the same time
_RUNS = 20  # then the next task goes on
Clock = Callable[[], datetime]
# Sends a delivery; the instant is the present time.
Send = Callable[[Delivery, datetime], Outcome]
# Kind of channel -> what sends a delivery to it.
SENDERS: Mapping[str, Send] = {
    "mail": lambda delivery, now: mail.send(delivery),
    Channel.Kind.WEBHOOK: webhooks.send,
    Channel.Kind.CHAT: lambda delivery, now: chats.send(delivery),
}


def run(clock: Clock, senders: Mapping[str, Send] = SENDERS) -> int:
    """Route the new events, then send what is due; return the number of attempts.

    Does nothing while another worker runs it. ``clock`` returns the present time.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}"
    with leases.held("notifications", holder, _LEASE_SECONDS) as won:
        if not won:
            return 0
        sent = 0
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in range(_RUNS):
                # Another worker may go on if this one is stuck in a mail server, for example.
                # Its result does not matter: ``claim`` gives each delivery to one worker only.
                leases.acquire("notifications", holder, _LEASE_SECONDS)
                while routing.route(clock()):
                    pass  # also after an attempt, which may have disabled a channel
                claimed = deliveries.claim(clock(), _AT_ONCE)
                if not claimed:
                    break
                sent += _send_all(claimed, pool, clock, senders)
        return sent


def _send_all(
    claimed: list[Delivery], pool: ThreadPoolExecutor, clock: Clock, senders: Mapping[str, Send]
) -> int:
    """Send the claimed deliveries at once, and store each outcome; return how many were sent."""
    running: list[tuple[Delivery, Callable[[], Outcome]]] = []
    for delivery in claimed:
        reason = deliveries.why_dropped(delivery)
        if reason:
            deliveries.drop(delivery, reason, clock())
            continue
        name = delivery.channel.kind if delivery.channel else "mail"
        attempt = partial(_attempt, senders[name], delivery, clock())
        is_here = name == "mail" and mail.uses_database()
        running.append((delivery, attempt if is_here else pool.submit(attempt).result))
    for delivery, finish in running:
        deliveries.record(delivery, finish(), clock())
    return len(running)


def _attempt(send: Send, delivery: Delivery, now: datetime) -> Outcome:
    try:
        return send(delivery, now)
    except Exception as error:  # one faulty delivery must not end the others
        logger.exception("a notification was not sent", delivery=delivery.pk)
        return Outcome(0, f"An internal error of Waypost: {type(error).__name__}")
