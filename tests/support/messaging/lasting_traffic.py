"""Traffic that goes on while something is killed or changed, and counts what became of it."""

import itertools
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from proton import Delivery, Message, ProtonException
from proton.utils import BlockingConnection

from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.reconcile import rows
from tests.support.waiting import eventually


class Traffic:
    """A sender and a receiver of a space's queue ``orders``, as user alice, in threads.

    They connect again when they must, to the next of the space's endpoints. Every message has a
    number of its own, so what comes twice shows, and what is lost.
    """

    def __init__(self, space: AddressSpace, folder: Path) -> None:
        self.accepted: list[int] = []
        self.received: list[int] = []
        self.longest_pause = 0.0
        # Read once: threads have no business in the rows.
        endpoints = list(space.endpoints.order_by("name"))
        self._at = itertools.cycle([(endpoint.host, endpoint.port) for endpoint in endpoints])
        self._authority, self._folder = endpoints[0].certificate_pem, folder
        self._numbers = itertools.count()
        self._last_accepted = time.monotonic()
        self._is_ending, self._has_ended = threading.Event(), threading.Event()
        self._drops, self.failed_logins = 0, 0
        self._threads = [
            threading.Thread(target=self._repeat, args=[job, until], daemon=True)
            for job, until in ((self._send, self._is_ending), (self._receive, self._has_ended))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        eventually(lambda: self.received, "the first message", seconds=30)

    @property
    def duplicates(self) -> int:
        """How many messages came once more than they had to."""
        return len(self.received) - len(set(self.received))

    def carry(self, messages: int) -> None:
        """Wait until so many more messages are accepted."""
        wanted = len(self.accepted) + messages
        eventually(lambda: len(self.accepted) >= wanted, f"{messages} more", seconds=60)

    def seconds_to_the_next_accepted(self) -> float:
        """Wait until a message is accepted that was sent after now; return how long that took."""
        begun, before = time.monotonic(), len(self.accepted)
        # The outcome of the one that is on its way now may be here already.
        eventually(lambda: len(self.accepted) > before + 1, "messages are accepted", seconds=60)
        return time.monotonic() - begun

    def log_in_again(self) -> None:
        """End both connections; return once a login that followed has failed."""
        before = self.failed_logins
        self._drops += 1
        eventually(lambda: self.failed_logins > before, "a login fails", seconds=30)

    def finish(self) -> None:
        """Stop sending, and receiving once everything that was accepted has come."""
        self._is_ending.set()
        self._threads[0].join(60)
        eventually(lambda: set(self.accepted) <= set(self.received), "everything", seconds=60)
        self._has_ended.set()
        self._threads[1].join(60)

    def _repeat(
        self, job: Callable[[BlockingConnection, threading.Event], None], until: threading.Event
    ) -> None:
        while not until.is_set():
            is_in = False
            with suppress(ProtonException, OSError), self._connected() as connection:
                is_in = True
                job(connection, until)
            self.failed_logins += not is_in
            time.sleep(0.1)

    def _connected(self) -> AbstractContextManager[BlockingConnection]:
        return amqp.connected_to(
            next(self._at), self._authority, self._folder, "alice", rows.PASSWORD, timeout=5
        )

    def _send(self, connection: BlockingConnection, until: threading.Event) -> None:
        sender = connection.create_sender("orders")
        drops = self._drops
        while not until.is_set() and drops == self._drops:
            number = next(self._numbers)
            delivery = sender.send(Message(body=number, durable=True), timeout=10)
            if delivery.remote_state == Delivery.ACCEPTED:
                self.accepted.append(number)
                now = time.monotonic()
                self.longest_pause = max(self.longest_pause, now - self._last_accepted)
                self._last_accepted = now

    def _receive(self, connection: BlockingConnection, until: threading.Event) -> None:
        receiver = connection.create_receiver("orders", credit=100)
        drops = self._drops
        while not until.is_set() and drops == self._drops:
            routing_rig.settle_down(connection, seconds=0.05)
            bodies = routing_rig.take(receiver, routing_rig.waiting(receiver))
            self.received += [int(str(body)) for body in bodies]
