"""proton in the plain way of its example programs: a Container, one handler, events."""

from typing import Any

from proton import Message, SSLDomain
from proton.handlers import MessagingHandler
from proton.reactor import Container

from tests.support.foreign import Job, Told, said

_TIMEOUT_SECONDS = 120


def exchange(job: Job) -> Told:
    """Run the job and return once its container has stopped."""
    exchanging = _Exchange(job)
    Container(exchanging).run()
    return Told(exchanging.accepted, tuple(exchanging.received), exchanging.refused)


def connect(container: Container, job: Job) -> Any:
    """Open a connection over TLS that does not come back when it is lost."""
    trust = SSLDomain(SSLDomain.MODE_CLIENT)
    trust.set_trusted_ca_db(str(job.ca))
    trust.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    return container.connect(
        f"amqps://{job.host}:{job.port}",
        ssl_domain=trust,
        user=job.user,
        password=job.password,
        reconnect=False,
    )


class _Exchange(MessagingHandler):
    """Receivers first; once all are attached, the sender."""

    def __init__(self, job: Job) -> None:
        super().__init__(prefetch=job.messages)
        self.accepted, self.received, self.refused = 0, list[str](), ""
        self._job, self._sent, self._attached = job, 0, 0
        self._connections: list[Any] = []
        self._timeout: Any = None

    def on_start(self, event: Any) -> None:
        self._timeout = event.container.schedule(_TIMEOUT_SECONDS, self)
        for number in range(self._job.receivers):
            # Each with a name of its own: proton names links by container and address, and a router
            # that routes links to a broker cannot tell two of one name apart (docs/messaging.md).
            event.container.create_receiver(
                self._connect(event.container),
                self._job.source or self._job.address,
                name=f"receiver {number}",
            )
        if not self._job.receivers:
            self._open_sender(event.container)

    def on_link_opened(self, event: Any) -> None:
        if event.link.is_receiver and event.link.remote_source.address:
            self._attached += 1
            if self._attached == self._job.receivers:
                self._open_sender(event.container)

    def on_sendable(self, event: Any) -> None:
        while event.sender.credit and self._sent < self._job.messages:
            event.sender.send(Message(body=self._job.body(self._sent), durable=True))
            self._sent += 1

    def on_accepted(self, event: Any) -> None:
        self.accepted += 1
        self._stop_when_complete()

    def on_message(self, event: Any) -> None:
        self.received.append(said(event.message.body))
        self._stop_when_complete()

    def on_link_error(self, event: Any) -> None:
        self._refuse(event.link.remote_condition.name)

    def on_connection_error(self, event: Any) -> None:
        self._refuse(event.connection.remote_condition.name)

    def on_transport_error(self, event: Any) -> None:
        self._refuse(event.transport.condition.name)

    def on_timer_task(self, event: Any) -> None:
        self._refuse("no answer")

    def _open_sender(self, container: Any) -> None:
        container.create_sender(self._connect(container), self._job.address)

    def _connect(self, container: Any) -> Any:
        connection = connect(container, self._job)
        self._connections.append(connection)
        return connection

    def _stop_when_complete(self) -> None:
        is_complete = len(self.received) == self._job.expected if self._job.receivers else True
        if self.accepted == self._job.messages and is_complete:
            self._close()

    def _refuse(self, condition: str) -> None:
        self.refused = self.refused or condition
        self._close()

    def _close(self) -> None:
        self._timeout.cancel()
        for connection in self._connections:
            connection.close()
