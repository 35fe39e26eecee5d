"""A client of one space over AMQP 1.0 with TLS: it sends, receives and browses as programs do.

Unlike ``waypost messages``, which asks the API, it logs in as a messaging user: the permissions of
the user and the limits and prices of the space apply.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from proton import Delivery, Message, ProtonException, SSLDomain, Timeout
from proton.reactor import Copy
from proton.utils import BlockingConnection

from controlplane.core.errors import Conflict, Denied, Missing, Unavailable, WaypostError
from controlplane.rest_client import Json
from workers.messaging import management, tls

_STEP_SECONDS = 20.0  # for the connection, an attach, the answer to a message
# What a person writes -> the outcome in AMQP.
OUTCOMES: Mapping[str, Any] = {
    "accept": Delivery.ACCEPTED,
    "reject": Delivery.REJECTED,
    "release": Delivery.RELEASED,
}
# The conditions of AMQP 1.0, section 2.8.15, and 2.8.18.
_BY_CONDITION: Mapping[str | None, tuple[type[WaypostError], str]] = {
    "amqp:unauthorized-access": (Denied, "messaging.denied"),
    "amqp:not-found": (Missing, "messaging.address_missing"),
    "amqp:resource-limit-exceeded": (Conflict, "messaging.limit"),
}


class MessageRefused(Conflict):
    """The space did not take a message."""

    code: ClassVar[str] = "message.refused"


class MessagingFailed(Conflict):
    """The space closed the connection or the link."""

    code: ClassVar[str] = "messaging.failed"


@dataclass
class Client:
    """An open connection of a messaging user to a space; made by ``connected``.

    Every method raises, while it is iterated:
        Denied: ``messaging.denied``: the user has no permission for the address.
        Missing: ``messaging.address_missing``: the space has no such address.
        MessagingFailed: the space ended the link or the connection for another reason.
        Unavailable: ``messaging.silent``: the space did not answer in time.
    """

    connection: BlockingConnection

    def send(self, address: str, messages: Iterable[Message]) -> Iterator[Message]:
        """Send each of ``messages``; yield it when the space has accepted it.

        Raises:
            MessageRefused: the space did not accept one; those yielded before are accepted.
        """
        with _explained(address):
            sender = self.connection.create_sender(address)
            for message in messages:
                _require_accepted(address, sender.send(message, error_states=[]))
                yield message
            sender.close()

    def receive(
        self, address: str, outcome: str, *, limit: int | None, wait_seconds: float | None
    ) -> Iterator[Message]:
        """Yield messages; settle each with ``outcome`` when the next one is requested.

        If the program ends while it processes a message, the message stays in the address. The
        iteration ends after ``limit`` messages, or when none has come for ``wait_seconds``; None
        means no limit. ``outcome`` is a key of ``OUTCOMES``.
        """
        with _explained(address):
            # ``receive`` grants credit for one message at a time: none is taken that nobody reads.
            receiver = self.connection.create_receiver(address, credit=0)
            count = 0
            while limit is None or count < limit:
                try:
                    message = receiver.receive(timeout=wait_seconds)
                except Timeout:
                    break
                yield message
                receiver.settle(OUTCOMES[outcome])
                count += 1
            receiver.close()  # waits for the peer, so it has every outcome

    def browse(self, address: str, *, limit: int, wait_seconds: float) -> Iterator[Message]:
        """Yield copies of stored messages: ``limit``, or until none came for ``wait_seconds``."""
        with _explained(address):
            # The messages stay in the queue, so credit for all copies takes none from receivers.
            receiver = self.connection.create_receiver(address, credit=limit, options=Copy())
            with suppress(Timeout):
                for _ in range(limit):
                    yield receiver.receive(timeout=wait_seconds)


@contextmanager
def connected(space: Json, user: str, password: str) -> Iterator[Client]:
    """Yield a client that is logged in to ``space``, a space as the API shows it.

    It checks the server's name, and its certificate against the one that the API gives and the
    authorities that the machine trusts.

    Raises:
        Unavailable: ``messaging.no_endpoint``: the space is not ready; ``messaging.unreachable``;
            ``messaging.certificate``.
        Denied: ``messaging.login``: user or password is wrong, or the user is revoked.
    """
    endpoint = next((one for one in space["endpoints"] if one["protocol"] == "amqps"), None)
    if endpoint is None:
        raise Unavailable(
            f"The space {space['name']} has no endpoint yet: `waypost spaces show "
            f"{space['name']}` says what it waits for.",
            code="messaging.no_endpoint",
        )
    connection = _open(endpoint, user, password)
    try:
        yield Client(connection)
    finally:
        management.close_quietly(connection)  # the peer may be gone, and is not waited for


class _Connection(BlockingConnection):
    """A connection that keeps in ``ends`` why its transport ended, as (condition, text)."""

    def __init__(self, ends: list[tuple[str, str]], *given: Any, **more: Any) -> None:
        self._ends = ends
        super().__init__(*given, **more)

    def on_transport_closed(self, event: Any) -> None:
        condition = event.transport.condition
        if condition is not None:
            self._ends.append((condition.name, condition.description or ""))
        super().on_transport_closed(event)


def _open(endpoint: Json, user: str, password: str) -> BlockingConnection:
    at = f"{endpoint['host']}:{endpoint['port']}"
    ends: list[tuple[str, str]] = []
    try:
        return _Connection(
            ends,
            f"amqps://{at}",
            timeout=_STEP_SECONDS,
            container=tls.Container(),
            ssl_domain=_trust(endpoint["certificate_pem"]),
            user=user,
            password=password,
            allowed_mechs="PLAIN",
            reconnect=False,
        )
    except (ProtonException, OSError) as error:
        # The condition of the transport says more than proton's own error.
        name, text = ends[0] if ends else ("", str(error))
        raise _not_connected(name, text, at, user) from None


def _trust(certificate_pem: str) -> SSLDomain:
    if not certificate_pem:  # the machine trusts the authority already
        settings = SSLDomain(SSLDomain.MODE_CLIENT)
        settings.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        return settings
    with tempfile.TemporaryDirectory() as folder:  # proton takes the name of a file
        file = Path(folder) / "ca.pem"
        file.write_text(certificate_pem)
        return tls.make_settings(str(file))


def _not_connected(condition: str, text: str, at: str, user: str) -> WaypostError:
    if condition == "amqp:unauthorized-access":
        return Denied(
            f"The space refused the login of {user}: check name and password "
            "(`waypost users list` shows the users).",
            code="messaging.login",
        )
    if condition == "amqp:connection:framing-error" and "certificate" in text:
        return Unavailable(
            f"The certificate of {at} cannot be verified: {text}", code="messaging.certificate"
        )
    return Unavailable(f"No connection to {at}: {text}", code="messaging.unreachable")


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Raise the errors of proton as errors that say what to do."""
    try:
        yield
    except Timeout:
        raise Unavailable(
            f"The space did not answer for {_STEP_SECONDS:.0f} s. A full address gives no credit: "
            f"`waypost addresses show` says whether {address} is full.",
            code="messaging.silent",
        ) from None
    except ProtonException as error:
        # Only the errors for an end by the peer have a condition (LinkDetached, ConnectionClosed).
        condition = getattr(error, "condition", None)
        kind, code = _BY_CONDITION.get(condition, (MessagingFailed, MessagingFailed.code))
        text = f"The space refused {address}: {error}"
        if kind is Denied:
            text += (
                " Give the user a permission for the address. If sending is withdrawn, by a "
                "suspension or a quota, `waypost spaces show` says why."
            )
        raise kind(text, code=code) from None


def _require_accepted(address: str, delivery: Delivery) -> None:
    if delivery.remote_state == Delivery.ACCEPTED:
        return
    outcome = str(delivery.remote_state).lower()
    reason = delivery.remote.condition
    why = f": {reason.description or reason.name}" if reason else ""
    raise MessageRefused(f"{address} did not accept the message ({outcome}){why}.")
