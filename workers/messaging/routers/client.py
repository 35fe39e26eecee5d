"""Send requests to a router's ``$management`` address, over AMQP with mutual TLS.

``driver`` connects. ``tables`` sends most of the requests, ``driver`` a few. The protocol is the
OASIS draft "AMQP Management Version 1.0". Qpid Dispatch differs from it in three ways:

* answers are already settled;
* a CREATE with an unknown attribute is answered with 201;
* some requests get no answer, such as an UPDATE of ``router.config.*``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from proton import Message
from proton.utils import BlockingConnection

from workers.messaging import management
from workers.messaging.management import Refused
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import patches

ADDRESS = "$management"
_WINDOW = 50  # requests sent before their answers are read

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer of the router: a status code as in HTTP, its text and a body."""

    status: int
    description: str
    body: Any

    @classmethod
    def of(cls, message: Message) -> Self:
        """Return the answer that ``message`` holds, with status 0 if ``message`` has no status."""
        properties: Mapping[str, Any] = message.properties or {}
        status = int(properties.get("statusCode", 0))
        return cls(status, str(properties.get("statusDescription", "")), _plain(message.body))


@dataclass(frozen=True)
class Request:
    """One request to the router; ``RouterClient.ask`` sends it.

    ``properties`` name the operation, the type and the entity; ``body`` has the attributes.
    """

    properties: Mapping[str, Any]
    body: Mapping[str, Any] = field(default_factory=dict)


# Every entity type of Qpid Dispatch, and of the development router, begins with this.
_TYPE_PREFIX = "org.apache.qpid.dispatch."


class RouterClient:
    """Sends requests to one router over an open connection; create it by ``connected``.

    Not thread-safe. ``timeout_seconds`` limits the wait for each answer. ``patches``: our patches
    that the router offered when the connection was opened.
    """

    def __init__(self, connection: BlockingConnection, timeout_seconds: float) -> None:
        self._timeout = timeout_seconds
        self._sender = connection.create_sender(ADDRESS)
        self._receiver = connection.create_receiver(None, dynamic=True, credit=2 * _WINDOW)
        self._reply_to = self._receiver.link.remote_source.address
        conn: Any = connection.conn
        offered = conn.remote_offered_capabilities
        # proton shows an AMQP array as ``Array``.
        self.patches = patches.of_capabilities(list(getattr(offered, "elements", offered) or ()))

    def query(self, kind: str, *attributes: str) -> Sequence[Row]:
        """Return all entities of the type ``kind``, as rows: attribute -> value or None.

        ``kind`` is the type without ``org.apache.qpid.dispatch.``.

        Raises:
            Refused: the router does not know the type or a column.
            Unreachable: no answer in time.
        """
        properties = {"operation": "QUERY", "entityType": f"{_TYPE_PREFIX}{kind}"}
        reply = self.ask([Request(properties, {"attributeNames": list(attributes)})])[0]
        if reply.status != 200:
            raise Refused(f"{kind}: {reply.description}")
        # Use the names of the answer: a router leaves out columns without a value in any row.
        names = reply.body["attributeNames"]
        found = [dict(zip(names, row, strict=True)) for row in reply.body["results"]]
        return [{**dict.fromkeys(attributes), **row} for row in found]

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Send all requests; return the answers, whatever their status, in order of the requests.

        Raises:
            Unreachable: an answer did not arrive in time.
        """
        replies: list[Reply] = []
        for begin in range(0, len(requests), _WINDOW):
            replies += self._window(requests[begin : begin + _WINDOW])
        return replies

    def entity_request(
        self, operation: str, kind: str, name: str, attributes: Mapping[str, Any] | None = None
    ) -> Request:
        """Return a CREATE, READ or DELETE request for one entity; send nothing.

        ``kind`` is the type without ``org.apache.qpid.dispatch.``. Only CREATE has ``attributes``.
        """
        properties = {"operation": operation, "type": f"{_TYPE_PREFIX}{kind}", "name": name}
        return Request(properties, attributes or {})

    def close_connection(self, identity: str) -> bool:
        """Make the router close the connection ``identity``; return whether it did.

        False means that the connection had ended already, or that the router refused.

        Raises:
            Unreachable: no answer in time.
        """
        properties = {
            "operation": "UPDATE",
            "type": f"{_TYPE_PREFIX}connection",
            "identity": identity,
        }
        return self.ask([Request(properties, {"adminStatus": "deleted"})])[0].status == 200

    def _window(self, requests: Sequence[Request]) -> Sequence[Reply]:
        with management.as_unreachable():
            for number, request in enumerate(requests):
                self._sender.link.send(self._message(request, number))
            # No accept here, unlike with brokers: a router sends its answers settled.
            answers: dict[str, Message] = {}
            for _ in requests:
                answer = self._receiver.receive(timeout=self._timeout)
                answers[str(answer.correlation_id)] = answer
            return [Reply.of(answers[str(number)]) for number in range(len(requests))]

    def _message(self, request: Request, number: int) -> Message:
        return Message(
            address=ADDRESS,
            reply_to=self._reply_to,
            correlation_id=str(number),
            properties=dict(request.properties),
            body=dict(request.body),
        )


@contextmanager
def connected(
    target: ManagementTarget,
    *,
    purpose: str,
    timeout_seconds: float = 10,
    greeting_seconds: float | None = None,
) -> Iterator[RouterClient]:
    """Connect to the router at ``target`` and yield a client; close the connection after the block.

    ``purpose``, ``timeout_seconds`` and ``greeting_seconds`` are as in ``management.connected``.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
    connection = management.open_connection(
        target, purpose=purpose, timeout_seconds=greeting_seconds or timeout_seconds
    )
    try:
        connection.timeout = timeout_seconds
        with management.as_unreachable():
            client = RouterClient(connection, timeout_seconds)
        yield client
    finally:
        management.close_quietly(connection)


def _plain(value: Any) -> Any:
    """Return a value that proton decoded, converted to Python's built-in types.

    proton decodes an AMQP ``int`` to its class ``int32``, and other types likewise. The text of
    such a value is ``int32(7)``, so it neither compares nor prints like the plain number.
    """
    if isinstance(value, bool) or value is None:  # before int: a bool is an int in Python
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, memoryview):  # of the message's own memory, which is freed with it
        return bytes(value)
    return value
