"""Many connections of one user that log in, stay open and keep their heartbeats, in one thread.

proton waits with ``select``, which takes no file above number 1,023. So this speaks the few frames
itself (AMQP 1.0 part 2 section 2.4, part 5 section 5.3), and leaves the lower numbers to clients of
proton in the same process.
"""

import asyncio
import fcntl
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code

_AT_ONCE = 20  # far fewer than may wait for their login
_BEAT_SECONDS = 4  # a router closes a connection that was silent for 16 s
_FIRST_FILE = 1_024
_EMPTY_FRAME = b"\x00\x00\x00\x08\x02\x00\x00\x00"


class _Crowd:
    """Connections to one peer; all methods but the constructor run in the loop's thread."""

    def __init__(self, at: tuple[str, int], authority: Path, user: str, password: str) -> None:
        self._at = at
        self._trust = ssl.create_default_context(cafile=str(authority))
        self._trust.check_hostname = False
        self._login = f"\0{user}\0{password}".encode()
        self._dialing = asyncio.Semaphore(_AT_ONCE)
        self.ended: Counter[str] = Counter()
        self._open: list[asyncio.StreamWriter] = []
        self._watching: set[asyncio.Task[None]] = set()

    async def dial(self, count: int) -> None:
        await asyncio.gather(*(self._dial() for _ in range(count)))

    async def _dial(self) -> None:
        async with self._dialing:
            try:
                reader, writer = await self._connect()
                await self._greet(reader, writer)
            except (OSError, EOFError, frames.Malformed) as error:
                self.ended[type(error).__name__] += 1
                return
        self._open.append(writer)
        watch = asyncio.create_task(self._watch(reader, writer))
        self._watching.add(watch)
        watch.add_done_callback(self._watching.discard)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        with socket.socket() as low:
            high = socket.socket(fileno=fcntl.fcntl(low.fileno(), fcntl.F_DUPFD, _FIRST_FILE))
        high.setblocking(False)
        await asyncio.get_running_loop().sock_connect(high, self._at)
        return await asyncio.open_connection(
            sock=high, ssl=self._trust, server_hostname=self._at[0]
        )

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frames.SASL_HEADER)
        await frames.read_header(reader)
        await frames.read_frame(reader, Code.MECHANISMS)
        plain = frames.symbols(["PLAIN"]).elements[0]
        writer.write(frames.encode(Code.INIT, [plain, self._login]))
        outcome = await frames.read_frame(reader, Code.OUTCOME)
        if outcome.field(0) != frames.Outcome.OK:
            raise frames.Malformed(f"login refused: {outcome.fields}")
        name = f"crowd-{id(writer)}"
        writer.write(frames.AMQP_HEADER)
        writer.write(frames.encode(Code.OPEN, [name, self._at[0], None, None, None]))
        await frames.read_header(reader)
        await frames.read_frame(reader, Code.OPEN)

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read until the peer ends the connection; remember that it did."""
        with suppress(OSError, EOFError):
            while await reader.read(4096):
                pass
        if writer in self._open:
            self._open.remove(writer)
            self.ended["closed by the peer"] += 1

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            for writer in self._open:
                writer.write(_EMPTY_FRAME)

    async def leave(self) -> None:
        writers, self._open = self._open, []
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*self._watching)

    @property
    def opened(self) -> int:
        return len(self._open)


class Held:
    """What the test sees of a crowd."""

    def __init__(self, crowd: _Crowd) -> None:
        self._crowd = crowd

    @property
    def opened(self) -> int:
        return self._crowd.opened

    @property
    def ended(self) -> dict[str, int]:
        """Why connections are not open any more, or never were: a reason and their number."""
        return dict(self._crowd.ended)


@contextmanager
def held(
    at: tuple[str, int], authority: Path, user: str, password: str, count: int
) -> Iterator[Held]:
    """Yield once ``count`` connections were dialed; those that are open stay until the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    crowd = _Crowd(at, authority, user, password)
    beats = asyncio.run_coroutine_threadsafe(crowd.beat(), loop)
    try:
        asyncio.run_coroutine_threadsafe(crowd.dial(count), loop).result()
        yield Held(crowd)
    finally:
        beats.cancel()
        asyncio.run_coroutine_threadsafe(crowd.leave(), loop).result(120)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(120)
        loop.close()
