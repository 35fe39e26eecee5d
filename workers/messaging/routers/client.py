"""The client of a router's ``$management``, over AMQP with mutual TLS. Used by the driver only.

Facts of the protocol and its traps are in the reference on AMQP routers, section 4: answers come
settled, an unknown attribute is swallowed with a 201, some requests are never answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from proton import Message, ProtonException
from proton.utils import BlockingConnection

from workers.messaging import management
from workers.messaging.management import Refused, Unreachable
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import patches
from workers.messaging.routers.dialects import Dialect

ADDRESS = "$management"
_WINDOW = 50  # requests sent before their answers are waited for

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer: a status as in HTTP, its text, a body."""

    status: int
    description: str
    body: Any


@dataclass(frozen=True)
class Request:
    """One request: ``properties`` name operation, type and entity; ``body`` the attributes."""

    properties: Mapping[str, Any]
    body: Mapping[str, Any] = field(default_factory=dict)


class RouterClient:
    """An open management connection; made by ``connected``. Not for several threads."""

    def __init__(
        self, connection: BlockingConnection, dialect: Dialect, timeout_seconds: float
    ) -> None:
        self.dialect = dialect
        self._timeout = timeout_seconds
        self._sender = connection.create_sender(ADDRESS)
        self._receiver = connection.create_receiver(None, dynamic=True, credit=2 * _WINDOW)
        self._reply_to = self._receiver.link.remote_source.address
        self.patches = patches.of_capabilities(_offered(connection))

    def query(self, kind: str, *attributes: str) -> Sequence[Row]:
        """Return all rows of a type. A column without a value in any row is None.

        Raises:
            Refused: the router knows no such type, or no such column.
            Unreachable: no answer in time.
        """
        properties = {"operation": "QUERY", "entityType": self.dialect.full_type(kind)}
        reply = self.ask([Request(properties, {"attributeNames": list(attributes)})])[0]
        if reply.status != 200:
            raise Refused(f"{kind}: {reply.description}")
        # By the names that came back: a router leaves out columns that it has no value for.
        names = reply.body["attributeNames"]
        found = [dict(zip(names, row, strict=True)) for row in reply.body["results"]]
        return [{**dict.fromkeys(attributes), **row} for row in found]

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Return the answers in order. Raises ``Unreachable`` when one does not come in time."""
        replies: list[Reply] = []
        for begin in range(0, len(requests), _WINDOW):
            replies += self._window(requests[begin : begin + _WINDOW])
        return replies

    def entity_request(
        self, operation: str, kind: str, name: str, attributes: Mapping[str, Any] | None = None
    ) -> Request:
        """Return a CREATE, READ or DELETE by name."""
        properties = {"operation": operation, "type": self.dialect.full_type(kind), "name": name}
        return Request(properties, attributes or {})

    def close_connection(self, identity: str) -> bool:
        """Abort a client's connection; False when it was gone already."""
        properties = {
            "operation": "UPDATE",
            "type": self.dialect.full_type("connection"),
            "identity": identity,
        }
        return self.ask([Request(properties, {"adminStatus": "deleted"})])[0].status == 200

    def _window(self, requests: Sequence[Request]) -> Sequence[Reply]:
        with _as_unreachable():
            for number, request in enumerate(requests):
                self._sender.link.send(self._message(request, number))
            answers: dict[str, Message] = {}
            for _ in requests:
                answer = self._receiver.receive(timeout=self._timeout)
                answers[str(answer.correlation_id)] = answer
            return [_reply(answers[str(number)]) for number in range(len(requests))]

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
    target: ManagementTarget, dialect: Dialect, *, purpose: str, timeout_seconds: float = 10
) -> Iterator[RouterClient]:
    """Yield a client of ``target``; the connection ends with the block.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
    connection = management.open_connection(
        target, purpose=purpose, timeout_seconds=timeout_seconds
    )
    try:
        with _as_unreachable():
            client = RouterClient(connection, dialect, timeout_seconds)
        yield client
    finally:
        management.close_quietly(connection)


def _offered(connection: BlockingConnection) -> Sequence[object]:
    """Return the capabilities that the router offers; proton shows an AMQP array as ``Array``."""
    conn: Any = connection.conn
    offered = conn.remote_offered_capabilities
    return list(getattr(offered, "elements", offered) or ())


def _reply(message: Message) -> Reply:
    properties: Mapping[str, Any] = message.properties or {}
    status = int(properties.get("statusCode", 0))
    return Reply(status, str(properties.get("statusDescription", "")), _plain(message.body))


def _plain(value: Any) -> Any:
    """Return a decoded AMQP value in Python's own types.

    proton decodes an AMQP ``int`` to ``int32``, whose text is ``int32(7)``, and so on: such a value
    neither compares nor prints as the number that was asked for.
    """
    if isinstance(value, bool) or value is None:
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
    return value


@contextmanager
def _as_unreachable() -> Iterator[None]:
    try:
        yield
    except (ProtonException, OSError) as error:
        raise Unreachable(str(error) or type(error).__name__) from error
