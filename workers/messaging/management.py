"""The client of a broker's management address, over AMQP with mutual TLS.

A request is a message to ``activemq.management``; the answer comes to a dynamic queue of this
connection. The broker driver sends the requests; the router driver and the probes use only
``open_connection`` and ``close_quietly``. Source: Artemis user manual, "Management", section
"Management via AMQP".
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from proton import Endpoint, Message, ProtonException
from proton.reactor import Copy
from proton.utils import BlockingConnection

from workers.messaging import tls
from workers.messaging.observed import ManagementTarget

ADDRESS = "activemq.management"
CONTAINER_PREFIX = "waypost-"
_GOODBYE_SECONDS = 1.0  # how long a peer may take to answer a close


class Unreachable(Exception):
    """The instance does not answer in time, or it is stopping and refuses requests.

    Its state is then unknown; callers must not take it for empty.
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
    """An open management connection; create it by ``connected``. Not thread-safe."""

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
        """Return the results in order; up to ``_WINDOW`` requests are in flight at once.

        Raises:
            Refused: one of them failed; the others were sent nevertheless.
            Unreachable: no answer in time, or the broker is stopping and refused a request.
        """
        outcomes = self.try_all(requests)
        for outcome in outcomes:
            if isinstance(outcome, Refused):
                raise outcome
        return outcomes

    def try_all(self, requests: Sequence[Request]) -> list[Any]:
        """Return the result of each request, or its ``Refused``, in order.

        Raises:
            Unreachable: no answer in time, or the broker is stopping and refused a request.
        """
        results: list[Any] = []
        for begin in range(0, len(requests), _WINDOW):
            results += self._window(requests[begin : begin + _WINDOW])
        refusals = [result for result in results if isinstance(result, Refused)]
        if refusals and self._is_stopping():
            raise Unreachable(f"the broker is stopping: {refusals[0]}") from refusals[0]
        return results

    def _is_stopping(self) -> bool:
        """Return whether the broker is stopping, in which case its refusals mean nothing.

        A stopping broker still answers for about a second. It refuses most requests then (seen
        with Artemis 2.56), but still reports that it is no longer started. Source:
        ``ActiveMQServerControl.isStarted``.
        """
        (started,) = self._window([Request("broker", attribute="Started")])
        return started is False

    def leave(self, address: str, text: str) -> None:
        """Send one non-durable message to ``address``; it is gone when the broker stops."""
        with as_unreachable():
            sender = self._connection.create_sender(address)
            sender.send(Message(body=text, durable=False), timeout=self._timeout)
            sender.close()

    def peek(self, address: str) -> str:
        """Return the body of the first message at ``address`` without removing it."""
        with as_unreachable():
            receiver = self._connection.create_receiver(address, credit=1, options=Copy())
            message = receiver.receive(timeout=self._timeout)
            receiver.close()
            return str(message.body)

    def _window(self, requests: Sequence[Request]) -> list[Any]:
        with as_unreachable():
            for number, request in enumerate(requests):
                self._sender.send(self._message(request, number), timeout=self._timeout)
            # Answers may come in another order than requests; the correlation id is the position.
            answers: dict[str, Message] = {}
            for _ in requests:
                answer = self._receiver.receive(timeout=self._timeout)
                self._receiver.accept()
                answers[str(answer.correlation_id)] = answer
            return [self._decoded(answers[str(number)]) for number in range(len(requests))]

    @staticmethod
    def _decoded(answer: Message) -> Any:
        # Depending on its version, proton returns a binary body as bytes or as a memoryview.
        value: Any = bytes(answer.body) if isinstance(answer.body, memoryview) else answer.body
        if value in (None, "", b""):
            value = None
        else:
            with suppress(TypeError, ValueError):  # a refusal is a text, not JSON
                value = json.loads(value)
        properties: dict[str, Any] = answer.properties or {}
        if not properties.get("_AMQ_OperationSucceeded"):
            return Refused(str(value))
        # Results are JSON arrays; an operation with one return value has one element.
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def _message(self, request: Request, number: int) -> Message:
        properties = {"_AMQ_ResourceName": request.resource}
        if request.attribute:
            properties["_AMQ_Attribute"] = request.attribute
        else:
            properties["_AMQ_OperationName"] = request.operation
        # An operation takes its arguments as a JSON array; reading an attribute takes no body.
        body = None if request.attribute else json.dumps(list(request.arguments))
        return Message(
            address=ADDRESS,
            reply_to=self._reply_to,
            correlation_id=str(number),
            properties=properties,
            body=body,
        )


@contextmanager
def as_unreachable() -> Iterator[None]:
    """Turn every failure of a connection, a link or a wait of the block into ``Unreachable``."""
    try:
        yield
    except (ProtonException, OSError) as error:
        raise Unreachable(str(error) or type(error).__name__) from error


@contextmanager
def connected(
    target: ManagementTarget, *, purpose: str, timeout_seconds: float = 10
) -> Iterator[ManagementClient]:
    """Yield a client of ``target``; the connection ends with the block.

    ``purpose`` becomes part of the container id, so that operators recognize the connection.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
    connection = open_connection(target, purpose=purpose, timeout_seconds=timeout_seconds)
    try:
        with as_unreachable():
            client = ManagementClient(connection, timeout_seconds)
        yield client
    finally:
        close_quietly(connection)


def open_connection(
    target: ManagementTarget, *, purpose: str, timeout_seconds: float
) -> BlockingConnection:
    """Return an AMQP connection with our certificate as identity. Raises ``Unreachable``."""
    with as_unreachable():
        return BlockingConnection(
            f"amqps://{target.host}:{target.port}",
            timeout=timeout_seconds,
            container=tls.Container(),
            ssl_domain=tls.recent_settings(target.ca_file, target.cert_file, target.key_file),
            allowed_mechs="EXTERNAL",
            container_id=f"{CONTAINER_PREFIX}{purpose}",
        )


def close_quietly(connection: BlockingConnection) -> None:
    """Close a connection; wait at most ``_GOODBYE_SECONDS`` for a peer that hangs or is gone.

    proton's own ``close`` does not notice that the socket has closed. It waits its whole timeout
    for an answer, and without one it then waits forever.
    """
    ending: Any = connection.conn
    with suppress(ProtonException, OSError):
        ending.close()
        connection.wait(lambda: not ending.state & Endpoint.REMOTE_ACTIVE, timeout=_GOODBYE_SECONDS)
    with suppress(ProtonException, OSError):
        connection.disconnected = True  # so that ``close`` below does not wait
        if ending.transport is not None:
            ending.transport.close_tail()
            ending.transport.close_head()
        connection.close()


_WINDOW = 50  # requests sent before their answers are read
