"""Serve logins: each TLS connection from a router to this server is one login of one client.

The control authority signs the router's certificate, whose common name is the space id. The
``hostname`` in the router's sasl-init must be the same space id, or the login is refused. After a
successful login the router opens an AMQP connection on the same socket. The properties of the open
frame that answers it name the user and the permissions (``authenticated-identity``,
``address-authz``). An unexpected frame closes the connection.
"""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import structlog

from controlplane.core import request_ids
from tenants.router_patches import Patch
from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code, Frame, Outcome
from workers.services.auth import mechanisms
from workers.services.auth.mechanisms import FindUser
from workers.services.auth.state import KnownUser, SpaceUsers, State

logger = structlog.get_logger(__name__)

# A router waits for this time too. A login can take many seconds when many clients log in at once.
LOGIN_SECONDS = 30.0
# The largest first frame that proton accepts by default (PROTON-2640): about 600 short addresses.
MAX_OPEN_BYTES = 32 * 1024
_CAPABILITY = "ADDRESS-AUTHZ"


class Unknown(Exception):
    """The service has no users yet, so a login can neither succeed nor fail."""


class TooManyGrants(Exception):
    """The user's permissions do not fit into one open frame, so the user cannot log in.

    The remedy is to permit the user fewer addresses. ``details`` are for the log.
    """

    def __init__(self, space_id: str, user: str, addresses: int) -> None:
        super().__init__(space_id, user, addresses)
        self.details = {"space": space_id, "user": user, "addresses": addresses}


@dataclass
class Login:
    """One login: its connection's streams, and the space that the router's certificate names."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    space_id: str

    @classmethod
    def of(cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Self:
        """Return the ``Login`` for a new TLS connection; read nothing from it.

        Its ``space_id`` is empty if the router's certificate has no common name.
        """
        certificate = writer.get_extra_info("peercert") or {}
        subject = [pair for part in certificate.get("subject", ()) for pair in part]
        names = [str(value) for key, value in subject if key == "commonName"]
        return cls(reader, writer, names[0] if names else "")

    def send(self, code: Code, *fields: object) -> None:
        self.writer.write(frames.encode(code, fields))

    async def check_scram(self, response: bytes, find: FindUser) -> KnownUser:
        """Exchange SCRAM messages with the client; return the user whose password is right.

        ``response`` is the client's first message. ``find`` returns the user with a name, or None.
        The SASL outcome is not sent here.

        Raises:
            Refused: wrong name or password, or a malformed message.
            Malformed: an unexpected frame.
        """
        exchange = mechanisms.ScramExchange(find)
        self.send(Code.CHALLENGE, exchange.begin(response))
        final = await frames.read_frame(self.reader, Code.RESPONSE)
        user, server_final = exchange.finish(final.field(0) or b"")
        # As a challenge, because routers drop the additional data of an outcome.
        self.send(Code.CHALLENGE, server_final)
        await frames.read_frame(self.reader, Code.RESPONSE)
        return user

    async def introduce(self, introduction: bytes) -> None:
        """Answer the router's open frame with ``introduction``; wait until the router closes.

        ``introduction``: the encoded open frame that names the user and the permissions.

        Raises:
            Malformed: the router does not open an AMQP connection.
        """
        if await frames.read_header(self.reader) != frames.AMQP_HEADER:
            raise frames.Malformed("no AMQP header after the login")
        await frames.read_frame(self.reader, Code.OPEN)
        self.writer.write(frames.AMQP_HEADER + introduction)
        await self.writer.drain()
        # The router's close, or the end of the socket.
        await self.reader.read(frames.MAX_FRAME_BYTES)
        self.send(Code.CLOSE)

    async def refuse(self, outcome: Outcome) -> None:
        """Send the SASL outcome ``outcome`` to the router, for a login that did not succeed."""
        self.send(Code.OUTCOME, frames.ubyte(outcome))
        await self.writer.drain()


class AuthServer:
    """A TLS server that serves logins with the users in ``state``: call ``start``, then ``stop``.

    ``context`` has the server's certificate, and requires one from routers.
    """

    def __init__(self, state: State, context: ssl.SSLContext) -> None:
        self._state = state
        self._context = context
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen at ``host``; return the port, which the system chooses if ``port`` is 0."""
        self._server = await asyncio.start_server(
            self._serve, host, port, ssl=self._context, ssl_handshake_timeout=LOGIN_SECONDS
        )
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # One id for all log lines of this login, as web requests have.
        with request_ids.bound(""):
            await self._serve_login(reader, writer)

    async def _serve_login(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        login = Login.of(reader, writer)
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                await self._log_in(login)
        except (frames.Malformed, EOFError, OSError, TimeoutError) as error:
            logger.info("a login was aborted", space=login.space_id, error=str(error))
        finally:
            writer.close()

    async def _log_in(self, login: Login) -> None:
        if await frames.read_header(login.reader) != frames.SASL_HEADER:
            raise frames.Malformed("no SASL header")
        login.writer.write(frames.SASL_HEADER)
        login.send(Code.MECHANISMS, frames.symbols(self._offered(login.space_id)))
        init = await frames.read_frame(login.reader, Code.INIT)
        try:
            user = await self._check(login, init)
            introduction = await self._introduction(login.space_id, user)
        except mechanisms.Refused as error:
            logger.info("a login was refused", space=login.space_id, reason=str(error))
            return await login.refuse(Outcome.AUTH)
        except Unknown:
            logger.error("a login was refused: the users are not known yet", space=login.space_id)
            return await login.refuse(Outcome.SYSTEM_TEMPORARY)
        except TooManyGrants as error:
            logger.error(
                "a login was refused: the user's permissions do not fit into a frame",
                **error.details,
            )
            return await login.refuse(Outcome.SYSTEM_PERMANENT)
        login.send(Code.OUTCOME, frames.ubyte(Outcome.OK))
        return await login.introduce(introduction)

    async def _check(self, login: Login, init: Frame) -> KnownUser:
        if not login.space_id or init.field(2) != login.space_id:
            raise mechanisms.Refused(
                f"the realm {init.field(2)!r} is not the space of the certificate"
            )
        find, response = self._finder(login.space_id), init.field(1) or b""
        match str(init.field(0)):
            case "PLAIN":
                # In a thread: the key derivation would block the event loop.
                return await asyncio.to_thread(mechanisms.check_plain, response, find)
            case "SCRAM-SHA-256":
                return await login.check_scram(response, find)
        raise mechanisms.Refused(f"mechanism {init.field(0)!r} is not offered")

    def _offered(self, space_id: str) -> Sequence[str]:
        """Return the SASL mechanisms that the space's routers can relay.

        SCRAM needs the patch ``sasl-outcome`` in all routers of the space.
        """
        known = (self._state.picture or {}).get(space_id, SpaceUsers())
        relays_scram = Patch.SASL_OUTCOME in known.router_patches
        return mechanisms.MECHANISMS if relays_scram else mechanisms.PLAIN_ONLY

    def _finder(self, space_id: str) -> FindUser:
        return self._space(space_id).users.get

    def _space(self, space_id: str) -> SpaceUsers:
        if self._state.picture is None:
            raise Unknown
        return self._state.picture.get(space_id, SpaceUsers())

    async def _introduction(self, space_id: str, user: KnownUser) -> bytes:
        """Return the encoded open frame that names ``user`` and the user's permissions.

        Raises:
            Unknown: the service has no users yet.
            TooManyGrants: a router would not accept a frame of this size.
        """
        # In a thread: it matches each pattern with each address, which may be many.
        granted = await asyncio.to_thread(self._space(space_id).grants_of, user)
        properties = frames.symbol_map(
            {
                "authenticated-identity": {"sub": user.name, "preferred_username": user.name},
                "address-authz": {
                    key: frames.strings(operations) for key, operations in granted.items()
                },
                "groups": [],
            }
        )
        offered = frames.symbols([_CAPABILITY])
        # Fields of open: container id, 6 unset ones, offered and desired capabilities, properties.
        nothing = [None] * 6
        frame = frames.encode(Code.OPEN, ["waypost-auth", *nothing, offered, None, properties])
        if len(frame) > MAX_OPEN_BYTES:
            raise TooManyGrants(space_id, user.name, len(granted))
        return frame
