"""The client of a broker's management address, over AMQP with mutual TLS.

A request is an AMQP message to ``activemq.management``. The broker sends the answer to a temporary
queue of the connection. Only the modules in ``brokers`` send such requests. The client of routers
and the probes share the errors of this module and the functions that open and close connections.
Source: Artemis user manual, "Management", section "Management via AMQP".
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
from workers.messaging.observed import MANAGEMENT_ADDRESS, ManagementTarget

CONTAINER_PREFIX = "waypost-"
# A running instance greets a sampler within this time; one that does not is treated as silent.
GREETING_SECONDS = 2.5
_GOODBYE_SECONDS = 1.0  # how long a peer may take to answer a close


class Unreachable(Exception):
    """No connection to the instance, no answer from it in time, or it is stopping.

    The state of the instance is then unknown: callers must not conclude that it holds nothing.
    """


class Refused(Exception):
    """A broker or router answered that a request failed; the text contains that answer."""


@dataclass(frozen=True)
class Request:
    """A request to call ``operation`` with ``arguments``, or to read ``attribute`` if it is given.

    ``resource`` is the broker's name of the object that has the operation or attribute, such as
    ``broker`` or ``queue.orders``. ``ManagementClient`` sends the request.
    """

    resource: str
    operation: str = ""
    arguments: Sequence[Any] = ()
    attribute: str = ""


class ManagementClient:
    """Sends requests to one broker over an open connection; create it by ``connected``.

    Not thread-safe. ``timeout_seconds`` limits the wait for each answer.
    """

    def __init__(self, connection: BlockingConnection, timeout_seconds: float) -> None:
        self._connection = connection
        self._timeout = timeout_seconds
        self._sender = connection.create_sender(MANAGEMENT_ADDRESS)
        self._receiver = connection.create_receiver(None, dynamic=True, credit=_WINDOW)
        self._reply_to = self._receiver.link.remote_source.address

    def call(self, resource: str, operation: str, *arguments: Any) -> Any:
        """Call an operation; return its result as ``ask`` does. Raises as ``ask`` does."""
        return self.ask([Request(resource, operation, arguments)])[0]

    def read(self, resource: str, attribute: str) -> Any:
        """Return the value of one attribute, decoded as in ``ask``. Raises as ``ask`` does."""
        return self.ask([Request(resource, attribute=attribute)])[0]

    def ask(self, requests: Sequence[Request]) -> list[Any]:
        """Send all requests; return their results, decoded from JSON, in the order of the requests.

        A result that is a list of one element is returned as that element, and an empty answer as
        None. Up to ``_WINDOW`` requests are in flight at once.

        Raises:
            Refused: a request failed; the others were sent nevertheless.
            Unreachable: no answer in time, or the broker is stopping and refused a request.
        """
        outcomes = self.try_all(requests)
        for outcome in outcomes:
            if isinstance(outcome, Refused):
                raise outcome
        return outcomes

    def try_all(self, requests: Sequence[Request]) -> list[Any]:
        """Send all requests; return for each, in order, its result or a ``Refused`` if it failed.

        Results are decoded as in ``ask``.

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
        """Return whether the broker is stopping: what it refuses then says nothing about its state.

        A stopping broker still answers for about a second. It refuses most requests then (seen
        with Artemis 2.56), but still reports that it is no longer started. Source:
        ``ActiveMQServerControl.isStarted``.
        """
        (started,) = self._window([Request("broker", attribute="Started")])
        return started is False

    def leave(self, address: str, text: str) -> None:
        """Send one message with the body ``text`` to ``address``; it is lost when the broker stops.

        Raises:
            Unreachable: the broker did not accept the message in time.
        """
        with as_unreachable():
            sender = self._connection.create_sender(address)
            sender.send(Message(body=text, durable=False), timeout=self._timeout)
            sender.close()

    def peek(self, address: str) -> str:
        """Return the body of the first message in the queue ``address`` as text; remove nothing.

        Raises:
            Unreachable: no message came in time.
        """
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
            # A broker wraps its text in a list.
            return Refused(", ".join(map(str, value)) if isinstance(value, list) else str(value))
        # A result is a JSON array of return values, mostly of one. So this also unwraps a list of
        # one element that is itself the return value.
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
            address=MANAGEMENT_ADDRESS,
            reply_to=self._reply_to,
            correlation_id=str(number),
            properties=properties,
            body=body,
        )


@contextmanager
def as_unreachable() -> Iterator[None]:
    """Raise ``Unreachable`` in place of any error of proton or of the network in the block."""
    try:
        yield
    except (ProtonException, OSError) as error:
        raise Unreachable(str(error) or type(error).__name__) from error


@contextmanager
def connected(
    target: ManagementTarget,
    *,
    purpose: str,
    timeout_seconds: float = 10,
    greeting_seconds: float | None = None,
) -> Iterator[ManagementClient]:
    """Connect to the broker at ``target`` and yield a client; close the connection after the block.

    ``purpose`` becomes part of the container id, so that operators recognize the connection.
    ``timeout_seconds`` limits the wait for each answer. ``greeting_seconds`` limits the opening of
    the connection: a hung process accepts the socket, but never opens AMQP. None means that
    ``timeout_seconds`` limits it too.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
    greeting_seconds = greeting_seconds or timeout_seconds
    connection = open_connection(target, purpose=purpose, timeout_seconds=greeting_seconds)
    try:
        connection.timeout = timeout_seconds
        with as_unreachable():
            client = ManagementClient(connection, timeout_seconds)
        yield client
    finally:
        close_quietly(connection)


def open_connection(
    target: ManagementTarget, *, purpose: str, timeout_seconds: float
) -> BlockingConnection:
    """Return an open AMQP connection to a broker or router; close it by ``close_quietly``.

    Waypost logs in by the certificate of ``target`` (SASL EXTERNAL). ``timeout_seconds`` limits
    each later call on the connection too, until the caller sets another ``timeout`` on it.

    Raises:
        Unreachable: nothing answers, or it does not accept our certificate.
    """
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
    """Close a connection; suppress all errors. A peer has ``_GOODBYE_SECONDS`` to answer the close.

    proton's own ``close`` does not notice that the socket has closed. It waits for the peer's
    answer until its timeout, and then without a limit for the end of its event loop.
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
