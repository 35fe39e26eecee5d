"""Authenticate the peers of the router's three kinds of connection by SASL. Called by ``network``.

* ``relay`` passes a client's login to the auth service and gets the client's permissions.
* ``accept_external`` authenticates a peer by its certificate, at the listener for management.
* ``connect_external`` logs in to a broker with the router's own certificate.

All of them may also raise ``Malformed``, ``EOFError`` or ``OSError``.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code, Frame, Outcome
from workers.services.devrouter import matching
from workers.services.devrouter.configuration import AuthService
from workers.services.devrouter.wire import Wire

# Offered while the auth service is unavailable: a client gets a SASL outcome only after it has
# chosen a mechanism.
_FALLBACK_MECHANISMS = ("SCRAM-SHA-256", "PLAIN")


class NotAuthenticated(Exception):
    """The login of a peer, or of this router at a broker, failed or could not be checked."""


@dataclass(frozen=True)
class Peer:
    """The authenticated peer of a connection.

    ``permissions``: {names, separated by commas: operations} from the auth service. None permits
    everything.
    """

    user: str
    mechanism: str
    permissions: Mapping[str, Sequence[str]] | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_internal(self) -> bool:
        return self.permissions is None

    def may(self, operation: str, address: str) -> bool:
        """Return whether the peer may ``send`` to or ``recv`` from ``address``."""
        if self.permissions is None:
            return True
        return matching.is_permitted(self.permissions, operation, address)


async def relay(wire: Wire, service: AuthService) -> Peer:
    """Log a client in at the auth service, by passing SASL frames on; return it with permissions.

    Raises:
        NotAuthenticated: the login was refused, the service is unavailable or did not name the
            user, or the client skipped the login. Only in the first two cases does the client
            receive an outcome.
    """
    await _begin_server(wire)
    try:
        reader, writer = await asyncio.open_connection(
            service.host,
            service.port,
            ssl=service.profile.client(verifies_name=True),
        )
    except OSError as error:
        wire.write(frames.encode(Code.MECHANISMS, [frames.symbols(_FALLBACK_MECHANISMS)]))
        await frames.read_frame(wire, Code.INIT)
        wire.write(frames.encode(Code.OUTCOME, [frames.ubyte(Outcome.SYSTEM_TEMPORARY)]))
        raise NotAuthenticated(f"the auth service is unavailable: {error}") from error
    try:
        return await _Relay(wire, reader, writer).run(service.realm)
    finally:
        writer.close()


class _Relay:
    """Relays one login from a client (``wire``) to the auth service (``reader``, ``writer``)."""

    def __init__(
        self, wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._wire = wire
        self._reader = reader
        self._writer = writer

    async def run(self, realm: str) -> Peer:
        wire, reader, writer = self._wire, self._reader, self._writer
        writer.write(frames.SASL_HEADER)
        await frames.read_header(reader)
        wire.write((await frames.read_frame(reader, Code.MECHANISMS)).raw)
        init = await frames.read_frame(wire, Code.INIT)
        # The third field is the hostname (AMQP part 5 section 5.3.3.2). The auth service refuses
        # the login unless it is the id of the space.
        writer.write(frames.encode(Code.INIT, [init.field(0), init.field(1), realm]))
        answer = await frames.read_frame(reader, Code.CHALLENGE, Code.OUTCOME)
        while answer.code == Code.CHALLENGE:
            wire.write(answer.raw)
            writer.write((await frames.read_frame(wire, Code.RESPONSE)).raw)
            answer = await frames.read_frame(reader, Code.CHALLENGE, Code.OUTCOME)
        if answer.field(0) != Outcome.OK:
            wire.write(answer.raw)
            raise NotAuthenticated(f"the auth service answered {answer.field(0)}")
        # Pass on the success last: without its permissions a client must not be logged in.
        peer = await self._introduced(str(init.field(0)))
        wire.write(answer.raw)
        return peer

    async def _introduced(self, mechanism: str) -> Peer:
        """Open AMQP at the auth service; return the client that the service's open frame describes.

        Raises:
            NotAuthenticated: the open frame does not name the user and the permissions.
        """
        self._writer.write(frames.AMQP_HEADER)
        desired = frames.symbols(["ADDRESS-AUTHZ"])
        self._writer.write(
            frames.encode(Code.OPEN, ["router", None, None, None, None, None, None, None, desired])
        )
        await frames.read_header(self._reader)
        opened = await frames.read_frame(self._reader, Code.OPEN)
        self._writer.write(frames.encode(Code.CLOSE, []))
        properties = opened.field(9) or {}
        identity = properties.get("authenticated-identity")
        granted = properties.get("address-authz")
        if not identity or granted is None:
            raise NotAuthenticated("the auth service did not name the user")
        permissions = {
            str(pattern): tuple(frames.texts(operations)) for pattern, operations in granted.items()
        }
        return Peer(str(identity["sub"]), mechanism, permissions)


async def accept_external(wire: Wire) -> Peer:
    """Authenticate a peer by its certificate, which TLS has verified; the peer gets all rights.

    Raises:
        NotAuthenticated: the peer skipped SASL, did not choose EXTERNAL, or has no certificate.
    """
    await _begin_server(wire)
    wire.write(frames.encode(Code.MECHANISMS, [frames.symbols(["EXTERNAL"])]))
    init = await frames.read_frame(wire, Code.INIT)
    subject = wire.subject
    if str(init.field(0)) != "EXTERNAL" or not subject:
        wire.write(frames.encode(Code.OUTCOME, [frames.ubyte(Outcome.AUTH)]))
        raise NotAuthenticated("no client certificate")
    wire.write(frames.encode(Code.OUTCOME, [frames.ubyte(Outcome.OK)]))
    return Peer(subject, "EXTERNAL")


async def connect_external(wire: Wire, host: str) -> Peer:
    """Log in to a broker with the router's certificate (SASL EXTERNAL); return the broker as peer.

    ``host`` is the broker's name, which is sent in the sasl-init. The peer has no user name.

    Raises:
        NotAuthenticated: the broker does not offer EXTERNAL, or refuses the certificate.
    """
    wire.write(frames.SASL_HEADER)
    if await frames.read_header(wire) != frames.SASL_HEADER:
        raise NotAuthenticated("the broker does not speak SASL")
    offered = await frames.read_frame(wire, Code.MECHANISMS)
    if "EXTERNAL" not in frames.texts(offered.field(0) or []):
        raise NotAuthenticated("the broker does not accept certificates")
    external = frames.symbols(["EXTERNAL"]).elements[0]
    wire.write(frames.encode(Code.INIT, [external, b"", host]))
    outcome: Frame = await frames.read_frame(wire, Code.OUTCOME)
    if outcome.field(0) != Outcome.OK:
        raise NotAuthenticated(f"the broker answered {outcome.field(0)}")
    return Peer("", "EXTERNAL")


async def _begin_server(wire: Wire) -> None:
    """Exchange SASL headers with a peer; raise ``NotAuthenticated`` if it sends another header."""
    header = await frames.read_header(wire)
    wire.write(frames.SASL_HEADER)
    if header != frames.SASL_HEADER:
        # AMQP part 2 section 2.2: answer with the expected header (done above), then close.
        raise NotAuthenticated("the peer skipped the login")
