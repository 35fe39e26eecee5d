"""proton as its example programs use it: request and reply, durable subscriptions, transactions."""

from typing import Any

from proton import Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container, DurableSubscription

from tests.support.foreign import Job, Told
from tests.support.foreign.plain_proton import connect

_TIMEOUT_SECONDS = 120


def ask(job: Job) -> Told:
    """Ask on the job's address over a temporary one; ``received`` are the answers."""
    return _ran(Container(asking := _Asking(job)), asking)


def subscribe(job: Job) -> Told:
    """Subscribe durably, be away while the messages come, come back for them."""
    container = Container(subscribing := _Subscribing(job))
    container.container_id = "proton-ledger"
    return _ran(container, subscribing)


def transact(job: Job) -> Told:
    """Ask for a transaction on a connection that then sends a message without one."""
    return _ran(Container(transacting := _Transacting(job)), transacting)


class _Client(MessagingHandler):
    """One connection, a count, and an end when it is refused or takes too long."""

    def __init__(self, job: Job, **options: Any) -> None:
        super().__init__(**options)
        self.accepted, self.received, self.refused = 0, list[str](), ""
        self._job, self._sent = job, 0
        self._connection: Any = None
        self._timeout: Any = None

    def on_start(self, event: Any) -> None:
        self._timeout = event.container.schedule(_TIMEOUT_SECONDS, self)
        self._connection = connect(event.container, self._job)
        self._begin(event.container)

    def on_link_error(self, event: Any) -> None:
        self._refuse(event.link.remote_condition.name)

    def on_connection_error(self, event: Any) -> None:
        self._refuse(event.connection.remote_condition.name)

    def on_transport_error(self, event: Any) -> None:
        self._refuse(event.transport.condition.name)

    def on_timer_task(self, event: Any) -> None:
        self._refuse("no answer")

    def _begin(self, container: Container) -> None:
        raise NotImplementedError

    def _refuse(self, condition: str) -> None:
        self.refused = self.refused or condition
        self._close()

    def _close(self) -> None:
        self._timeout.cancel()
        self._connection.close()


class _Asking(_Client):
    """Asks, and serves what it asks."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._answers: Any = None
        self._replies: Any = None
        self._questions: Any = None

    def _begin(self, container: Container) -> None:
        self._replies = container.create_sender(self._connection, None)
        container.create_receiver(self._connection, self._job.address)
        self._answers = container.create_receiver(self._connection, None, dynamic=True)

    def on_link_opened(self, event: Any) -> None:
        if event.link == self._answers:
            self._questions = event.container.create_sender(self._connection, self._job.address)

    def on_sendable(self, event: Any) -> None:
        if event.sender != self._questions:
            return
        while event.sender.credit and self._sent < self._job.messages:
            reply_to = self._answers.remote_source.address
            event.sender.send(Message(body=f"message {self._sent}", reply_to=reply_to))
            self._sent += 1

    def on_accepted(self, event: Any) -> None:
        self.accepted += event.link == self._questions
        self._close_when_complete()

    def on_message(self, event: Any) -> None:
        if event.receiver == self._answers:
            self.received.append(event.message.body)
            self._close_when_complete()
            return
        answer = Message(address=event.message.reply_to, body=f"answer to {event.message.body}")
        self._replies.send(answer)

    def _close_when_complete(self) -> None:
        if self.accepted == len(self.received) == self._job.messages:
            self._close()


class _Subscribing(_Client):
    """Detaches once, sends, and attaches to the same subscription again."""

    def _begin(self, container: Container) -> None:
        self._subscribe(container)

    def _subscribe(self, container: Container) -> None:
        container.create_receiver(
            self._connection, self._job.address, name="kept", options=DurableSubscription()
        )

    def on_link_opened(self, event: Any) -> None:
        if event.link.is_receiver and not self._sent:
            event.link.detach()
            event.container.create_sender(self._connection, self._job.address)

    def on_sendable(self, event: Any) -> None:
        while event.sender.credit and self._sent < self._job.messages:
            event.sender.send(Message(body=f"message {self._sent}", durable=True))
            self._sent += 1

    def on_accepted(self, event: Any) -> None:
        self.accepted += 1
        if self.accepted == self._job.messages:
            self._subscribe(event.container)

    def on_message(self, event: Any) -> None:
        self.received.append(event.message.body)
        if len(self.received) == self._job.messages:
            event.receiver.close()  # the subscription ends

    def on_link_closed(self, event: Any) -> None:
        self._close()


class _Transacting(_Client, TransactionHandler):
    """``refused`` is what the request for a transaction was answered."""

    def _begin(self, container: Container) -> None:
        container.declare_transaction(self._connection, handler=self)

    def on_transaction_declare_failed(self, event: Any) -> None:
        self._go_on(event)

    def on_transaction_declared(self, event: Any) -> None:
        event.transaction.abort()
        event.container.create_sender(self._connection, self._job.address)

    def on_link_error(self, event: Any) -> None:
        self._go_on(event)

    def on_sendable(self, event: Any) -> None:
        if not self._sent:
            event.sender.send(Message(body="after it", durable=True))
            self._sent = 1

    def on_accepted(self, event: Any) -> None:
        self.accepted += 1
        self._close()

    def _go_on(self, event: Any) -> None:
        """Send without a transaction, over the connection on which one was refused."""
        self.refused = event.link.remote_condition.name
        event.container.create_sender(self._connection, self._job.address)


def _ran(container: Container, client: _Client) -> Told:
    container.run()
    return Told(client.accepted, tuple(client.received), client.refused)
