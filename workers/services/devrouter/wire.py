"""Wrap the socket of one connection: the handshake reads it, then the engine gets its bytes."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, cast


class Consumer(Protocol):
    """What gets the bytes after the handshake: ``engine.Connection``.

    ``Wire`` calls ``lost`` when the socket has closed, and ``writable`` when it takes output again.
    """

    def receive(self, received: bytes) -> None: ...
    def lost(self) -> None: ...
    def writable(self) -> None: ...


class Wire(asyncio.Protocol):
    """The asyncio protocol of one TCP or TLS connection; ``made`` is called when it is established.

    ``is_paused``: the peer does not read fast enough, so nothing more should be written.
    """

    def __init__(self, made: Callable[["Wire"], None] | None = None) -> None:
        self._made = made
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._consumer: Consumer | None = None
        self.is_lost = False
        self.is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._made is not None:
            self._made(self)

    def data_received(self, data: bytes) -> None:
        if self._consumer is not None:
            self._consumer.receive(data)
            return
        # A peer may send more than the handshake reads. The engine must get the rest.
        self._buffer += data
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._arrived.set()
        if self._consumer is not None:
            self._consumer.lost()

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False
        if self._consumer is not None:
            self._consumer.writable()

    async def readexactly(self, n: int) -> bytes:
        """Return the next ``n`` bytes. Raises ``EOFError`` if the connection ends earlier."""
        while len(self._buffer) < n:
            if self.is_lost:
                raise EOFError("the connection ended")
            self._arrived.clear()
            await self._arrived.wait()
        taken = bytes(self._buffer[:n])
        del self._buffer[:n]
        return taken

    def hand_over(self, consumer: Consumer) -> None:
        """Pass all bytes not read yet, and the end of the socket, to ``consumer``."""
        self._consumer = consumer
        if self._buffer:
            buffered = bytes(self._buffer)
            self._buffer.clear()
            consumer.receive(buffered)
        if self.is_lost:
            # asyncio reports the end only once, which may have been during the handshake.
            consumer.lost()

    def write(self, sent: bytes) -> None:
        if self._transport is not None and not self.is_lost:
            self._transport.write(sent)

    def close(self) -> None:
        """Send what is buffered, then close the socket."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @property
    def subject(self) -> str:
        """The subject of the peer's certificate as in RFC 4514; empty without a certificate."""
        certificate = self.extra("peercert") or {}
        names = [pair for part in certificate.get("subject", ()) for pair in part]
        # Short attribute names, in reverse order.
        short = {"commonName": "CN", "organizationName": "O"}
        return ",".join(f"{short.get(key, key)}={value}" for key, value in reversed(names))

    def extra(self, name: str) -> Any:
        return self._transport.get_extra_info(name) if self._transport is not None else None
