"""The client of a broker's management address, over AMQP with mutual TLS.

A request is a message to ``activemq.management``; the answer comes to a queue of our own. Source:
Artemis user manual, "Management", section "Management via AMQP". Used by the broker driver only.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from proton import (
    ConnectionException,
    Endpoint,
    LinkException,
    Message,
    ProtonException,
    Timeout,
)
from proton.reactor import Copy
from proton.utils import BlockingConnection

from workers.messaging import tls
from workers.messaging.observed import ManagementTarget

ADDRESS = "activemq.management"
CONTAINER_PREFIX = "waypost-"
_GOODBYE_SECONDS = 1.0  # how long a peer may take to answer a close


class Unreachable(Exception):
    """Nobody answers there now or in time, or one that is about to end and refuses.

    What runs behind it is unknown, never empty.
    """


class Refused(Exception):
    """The broker answered that the request failed; the text is the broker's own."""


@dataclass(frozen=True)
class Request:
    """One operation on, or one attribute of, a resource such as ``broker`` or ``queue.orders``."""

    resource: str
    operation: str = ""
    arguments: Sequence[Any] = ()
    attribute: str = ""


class ManagementClient:
    """An open management connection; made by ``connected``. Not for several threads."""

    def __init__(self, connection: BlockingConnection, timeout_seconds: float) -> None:
        self._connection = connection
        self._timeout = timeout_seconds
        self._sender = connection.create_sender(ADDRESS)
        self._receiver = connection.create_receiver(None, dynamic=True, credit=_WINDOW)
        self._reply_to = self._receiver.link.remote_source.address

    def call(self, resource: str, operation: str, *arguments: Any) -> Any:
        """Return the operation's decoded result. Raises as ``ask`` does."""
        return self.ask([Request(resource, operation, arguments)])[0]

    def read(self, resource: str, attribute: str) -> Any:
        """Return one attribute. Raises as ``ask`` does."""
        return self.ask([Request(resource, attribute=attribute)])[0]

    def ask(self, requests: Sequence[Request]) -> list[Any]:
        """Return the results in order, sending a window of requests before waiting for answers.

        Raises:
            Refused: one of them failed (all were sent all the same).
            Unreachable: no answer in time, or a refusal of a broker that is about to end.
        """
        outcomes = self.try_all(requests)
        for outcome in outcomes:
            if isinstance(outcome, Refused):
                raise outcome
        return outcomes

    def try_all(self, requests: Sequence[Request]) -> list[Any]:
        """Return for each request its result, or the ``Refused`` it ended in.

        Raises:
            Unreachable: no answer in time, or a refusal of a broker that is about to end.
        """
        results: list[Any] = []
        for begin in range(0, len(requests), _WINDOW):
            results += self._window(requests[begin : begin + _WINDOW])
        refusals = [each for each in results if isinstance(each, Refused)]
        if refusals and self._is_stopping():
            raise Unreachable(f"the broker stops: {refusals[0]}") from refusals[0]
        return results

    def _is_stopping(self) -> bool:
        """Return whether a broker that refuses is about to end: then it says nothing of its state.

        For a second it still answers, and refuses much of what it is asked (seen with Artemis
        2.56), but says whether it is started. Source: ``ActiveMQServerControl.isStarted``.
        """
        (started,) = self._window([Request("broker", attribute="Started")])
        return started is False

    def leave(self, address: str, text: str) -> None:
        """Put one message that does not outlive the broker's process at ``address``."""
        with _as_unreachable():
            sender = self._connection.create_sender(address)
            sender.send(Message(body=text, durable=False), timeout=self._timeout)
            sender.close()  # type: ignore[no-untyped-call]

    def peek(self, address: str) -> str:
        """Return the body of the first message at ``address`` and leave it there."""
        with _as_unreachable():
            receiver = self._connection.create_receiver(address, credit=1, options=Copy())
            message = receiver.receive(timeout=self._timeout)
            receiver.close()  # type: ignore[no-untyped-call]
            return str(message.body)

    def _window(self, requests: Sequence[Request]) -> list[Any]:
        with _as_unreachable():
            for number, request in enumerate(requests):
                self._sender.send(self._message(request, number), timeout=self._timeout)
            answers: dict[str, Message] = {}
            for _ in requests:
                answer = self._receiver.receive(timeout=self._timeout)
                self._receiver.accept()
                answers[str(answer.correlation_id)] = answer
            return [_decoded(answers[str(number)]) for number in range(len(requests))]

    def _message(self, request: Request, number: int) -> Message:
        properties = {"_AMQ_ResourceName": request.resource}
        if request.attribute:
            properties["_AMQ_Attribute"] = request.attribute
        else:
            properties["_AMQ_OperationName"] = request.operation
        body = None if request.attribute else json.dumps(list(request.arguments))
        return Message(
            address=ADDRESS,
            reply_to=self._reply_to,
            correlation_id=str(number),
            properties=properties,
            body=body,
        )


@contextmanager
def connected(
    target: ManagementTarget, *, purpose: str, timeout_seconds: float = 10
) -> Iterator[ManagementClient]:
    """Yield a client of ``target``; the connection ends with the block.

    ``purpose`` becomes part of the container id, for people who look at connections.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
    connection = open_connection(target, purpose=purpose, timeout_seconds=timeout_seconds)
    try:
        with _as_unreachable():
            client = ManagementClient(connection, timeout_seconds)
        yield client
    finally:
        close_quietly(connection)


def open_connection(
    target: ManagementTarget, *, purpose: str, timeout_seconds: float
) -> BlockingConnection:
    """Return an AMQP connection with our certificate as identity. Raises ``Unreachable``."""
    with _as_unreachable():
        return BlockingConnection(
            f"amqps://{target.host}:{target.port}",
            timeout=timeout_seconds,
            container=tls.Container(),
            ssl_domain=tls.recent_settings(target.ca_file, target.cert_file, target.key_file),
            allowed_mechs="EXTERNAL",
            container_id=f"{CONTAINER_PREFIX}{purpose}",
        )


def close_quietly(connection: BlockingConnection) -> None:
    """Close; a connection that is broken, or whose peer hangs, is given up soon.

    The library's own close does not see that the socket ended meanwhile, so it waits its whole
    timeout for an answer, and when that has passed without one it waits for ever.
    """
    ending: Any = connection.conn
    with suppress(ProtonException, OSError):
        ending.close()
        connection.wait(lambda: not ending.state & Endpoint.REMOTE_ACTIVE, timeout=_GOODBYE_SECONDS)
    with suppress(ProtonException, OSError):
        connection.disconnected = True  # it has nothing to wait for now
        if ending.transport is not None:
            ending.transport.close_tail()
            ending.transport.close_head()
        connection.close()


def _decoded(answer: Message) -> Any:
    body = bytes(answer.body) if isinstance(answer.body, memoryview) else answer.body
    value = _parsed(body)
    properties: dict[str, Any] = answer.properties or {}
    if not properties.get("_AMQ_OperationSucceeded"):
        return Refused(str(value))
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _parsed(body: Any) -> Any:
    if body in (None, "", b""):
        return None
    try:
        return json.loads(body)
    except (TypeError, ValueError):
        return body


@contextmanager
def _as_unreachable() -> Iterator[None]:
    try:
        yield
    except (ConnectionException, LinkException, Timeout, ProtonException, OSError) as error:
        raise Unreachable(str(error) or type(error).__name__) from error


_WINDOW = 50
