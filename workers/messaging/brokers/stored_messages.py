"""List, remove, move and resend the messages that a broker stores, by its management.

``workers.message_requests`` calls it. No client connection is involved, so no consumer is counted
and nothing is locked. The broker plugin lists messages and counts what management moves and
removes (``Messages.java``), and ``snapshot`` subtracts these counts. A broker without the plugin
is refused.

Each change of one message is a transaction of the broker: it happened or it did not. A repeated
removal or move of a message that is gone does nothing.
"""

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.core.errors import Unavailable
from workers.messaging import management
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.encoded_message import ShownMessage, shown
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import ManagementTarget

_RESOURCE = "waypost.messages"  # the name in Guard.java
_NO_OPERATION = "AMQ229069"  # Artemis' code for an operation that it does not know
_ENCODED_BYTES = 12 * 1024  # of a listed message: sections before the body, and the body's begin
_STEP_MILLIS = 2_000  # how long the broker walks through a queue before it answers


@dataclass(frozen=True)
class Position:
    """Where a page of a queue begins: after the message with the id ``last``.

    If that message is gone, it begins after the first ``passed`` messages. 0 and 0 is the begin.
    """

    passed: int = 0
    last: int = 0


_BEGIN = Position()


@dataclass(frozen=True)
class Listed:
    """A page of a queue; ``next``: where the next page begins, or None after the last page."""

    messages: Sequence[ShownMessage]
    next: Position | None


class TooDeep(Unavailable):
    """The begin of a page was not reached in time; the same request goes on where this ended."""

    code = "messages.too_deep"


@dataclass(frozen=True)
class Found:
    """The broker's id of a stored message, and where the message came from.

    ``came_from``: the queue from which the broker moved it, for a dead letter; empty for others.
    """

    id: int
    came_from: str


@dataclass(frozen=True)
class Page:
    """The result of ``MessageChanges.find``; ``newest`` is for the next call of it."""

    newest: int
    messages: Sequence[Found]


def list_messages(
    target: ManagementTarget,
    queue: str,
    after: Position = _BEGIN,
    *,
    count: int,
    seconds: float,
    step_millis: int = _STEP_MILLIS,
) -> Listed:
    """Return up to ``count`` messages of the queue after a position; removes nothing.

    The broker remembers for some minutes where a page ended, so the next page takes no longer than
    the first. Any other position is reached only by reading all messages before it. The broker does
    that in steps of ``step_millis``, so that each of them answers.

    Raises:
        TooDeep: the position was not reached in ``seconds``.
        Unreachable: the broker does not answer.
        Refused: it has no such queue, or no plugin.
    """
    until = time.monotonic() + seconds
    with management.connected(target, purpose="browse") as client:
        while True:
            page = _page(client, queue, after, count, step_millis)
            if page["reached"]:
                break
            if time.monotonic() > until:
                raise TooDeep(
                    f"This page begins after {after.passed} messages, and the broker has passed "
                    f"{page['passed']} of them in {seconds:.0f} s. It goes on from there if you "
                    "browse the same page again within three minutes."
                )
    rows = [shown(row, base64.b64decode(row["encoded"])) for row in page["messages"]]
    behind = Position(int(page["passed"]), int(page["last"]))
    return Listed(rows, behind if page["more"] else None)


def _page(
    client: ManagementClient, queue: str, after: Position, count: int, step_millis: int
) -> Mapping[str, Any]:
    """Return the answer of ``Messages.page``.

    An older plugin has no ``page``: then this is the answer of ``list`` in the form of ``page``.
    """
    place = (after.last, after.passed)
    request = Request(_RESOURCE, "page", [queue, *place, count, _ENCODED_BYTES, step_millis])
    (answer,) = client.try_all([request])
    if not isinstance(answer, Refused):
        page: Mapping[str, Any] = _json(answer)
        return page
    # The broker may run since before an upgrade. If it has no such queue, this is refused too.
    listed = _list(client, queue, 0, after.passed, count, _ENCODED_BYTES)
    rows = listed["messages"]
    last = rows[-1]["id"] if rows else after.last
    passed = after.passed + len(rows)
    return {**listed, "reached": True, "passed": passed, "last": last, "more": len(rows) == count}


@dataclass(frozen=True)
class StoredQueue:
    """A queue's id in the broker, and how many messages it holds.

    A queue that was deleted and created again has another id.
    """

    id: str
    messages: int


class MessageChanges:
    """Finds and changes stored messages of one broker, through an open management connection.

    Each method raises ``Unreachable`` if the broker does not answer, and ``Refused`` if it refuses
    a request: there is no such queue, or no plugin.
    """

    def __init__(self, client: ManagementClient) -> None:
        self._client = client

    def queues(self) -> Mapping[str, StoredQueue]:
        """Return all queues of the broker, internal ones too: name -> queue."""
        rows = BrokerTables(self._client).rows("listQueues")
        return {
            str(row["name"]): StoredQueue(str(row["id"]), int(row["messageCount"])) for row in rows
        }

    def incarnation(self) -> str:
        """Return the identity of the broker's current incarnation; it changes with each start."""
        return str(self._client.read("broker", "Name"))

    def removed_from(self, queue: StoredQueue) -> int:
        """Return how many messages management removed or moved out of ``queue`` until now.

        The broker counts since its start.
        """
        return operated(self._client).get(f"out:{queue.id}", 0)

    def send(self, address: str, encoded: bytes) -> None:
        """Send a message, given as its AMQP encoding, to a queue or topic. Not idempotent."""
        self._client.call(_RESOURCE, "send", address, base64.b64encode(encoded).decode())

    def find(self, queue: str, *, newest: int, skip: int, count: int) -> Page:
        """Return up to ``count`` messages of ``queue`` after the first ``skip``; change nothing.

        ``newest``: leave out messages that arrived after the call that returned this
        ``Page.newest``; 0 leaves out none.
        """
        page = _list(self._client, queue, newest, skip, count, 0)
        found = [Found(int(row["id"]), str(row["from"])) for row in page["messages"]]
        return Page(int(page["newest"]), found)

    def remove(self, queue: str, ids: Sequence[int]) -> int:
        """Delete the messages with these ids; return how many were in ``queue``. Idempotent."""
        return self._each(f"queue.{queue}", "removeMessage", [[id_] for id_ in ids])

    def move(self, queue: str, ids: Sequence[int], to: str) -> int:
        """Move the messages with these ids to the address ``to``; return how many were there.

        ``to`` is on the same broker. Idempotent. If ``to`` is full, the rest stays where it is.
        """
        return self._moved(queue, "move", "moveMessage", [[id_, to] for id_ in ids])

    def resend(self, queue: str, ids: Sequence[int]) -> int:
        """Move dead letters back to the queues that they came from; return how many were there.

        Idempotent. If a queue is full, the rest of its dead letters stay where they are.
        """
        return self._moved(queue, "resend", "retryMessage", [[id_] for id_ in ids])

    def _moved(
        self, queue: str, operation: str, older: str, arguments: Sequence[Sequence[Any]]
    ) -> int:
        """Call the plugin's ``operation``; ``older`` is the broker's own for the same.

        The broker may run since before an upgrade, with a plugin that lacks ``operation``. Its own
        operation miscounts messages that a full queue refuses.
        """
        try:
            return self._each(_RESOURCE, operation, [[queue, *given] for given in arguments])
        except Refused as error:
            if _NO_OPERATION not in str(error):
                raise
        return self._each(f"queue.{queue}", older, arguments)

    def _each(self, resource: str, operation: str, arguments: Sequence[Sequence[Any]]) -> int:
        requests = [Request(resource, operation, given) for given in arguments]
        # The broker answers False for a message that is gone, as in a repeated request.
        return sum(1 for done in self._client.ask(requests) if done is True)


def operated(client: ManagementClient) -> Mapping[str, int]:
    """Return how many messages management added or took out, since the broker started.

    The keys are ``in:<id>`` (added) and ``out:<id>`` (taken out), with the broker's id of a queue
    or topic. Empty for a broker without the plugin, which refuses every change of this module.

    Raises:
        Unreachable: the broker stopped answering.
    """
    (answer,) = client.try_all([Request(_RESOURCE, "operated")])
    return {} if isinstance(answer, Refused) else _json(answer)


def _list(
    client: ManagementClient, queue: str, newest: int, skip: int, count: int, encoded: int
) -> Mapping[str, Any]:
    page: Mapping[str, Any] = _json(
        client.call(_RESOURCE, "list", queue, newest, skip, count, encoded)
    )
    return page


def _json(answer: Any) -> Any:
    return json.loads(answer) if isinstance(answer, str) else answer
