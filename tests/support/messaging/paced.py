"""Clients that send and receive steadily, so that something can be killed in the middle.

Every message is numbered; when each was acknowledged is remembered.
"""

import time
from typing import Any

import proton

from workers.messaging.counting_client import Client, Login

_PER_TICK = 3  # messages in each 0.05 s


class Sender(Client):
    """Sends from ``first`` on, 60 a second, until told to ``rest``.

    ``acknowledged``: number to the time of its acceptance.
    """

    def __init__(self, login: Login, address: str, first: int = 0) -> None:
        super().__init__(login, address, sends=1)
        self.acknowledged: dict[int, float] = {}
        self._next, self._first = first, first
        self._rests = self._has_rested = False

    def rest(self) -> None:
        """Send nothing more."""
        self._rests = True

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is sent and all that was has been acknowledged."""
        return self._has_rested and len(self.acknowledged) == self._next - self._first

    def on_sendable(self, event: Any) -> None:
        """Leave sending to the timer."""

    def on_accepted(self, event: Any) -> None:
        super().on_accepted(event)
        self.acknowledged[int(event.delivery.tag)] = time.time()

    def _pump(self) -> None:
        if self._rests:
            self._has_rested = True  # said by the thread that sends: no tick is half done now
            return
        if not self._go.is_set() or self.ended.is_set():
            return
        for _ in range(min(_PER_TICK, self._sender.credit)):
            body = str(self._next)
            self._next += 1
            self._sender.send(proton.Message(body=body, durable=True), tag=body)


class Receiver(Client):
    """Takes everything; ``numbers`` are those of the messages, as often as they came."""

    def __init__(self, login: Login, address: str) -> None:
        super().__init__(login, address, credit=100_000)
        self.numbers: list[int] = []

    def on_message(self, event: Any) -> None:
        super().on_message(event)
        self.numbers.append(int(event.message.body))


def connect(client: Client) -> None:
    """Connect the client and let it begin. Raises as ``link`` does."""
    link(client)
    client.go()


def link(client: Client) -> None:
    """Connect the client, which does nothing yet.

    Raises:
        TrafficError: it was refused, or nobody answers.
    """
    client.start()
    assert client.ready.wait(30), "no link"
    if client.error is not None:
        raise client.error
