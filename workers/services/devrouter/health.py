"""The listener that answers probes over HTTP: ``GET /healthz``, as Dispatch's ``healthz`` does.

``__main__`` opens it. The answer comes from the event loop that serves all connections. In
Dispatch it comes through the core thread.
"""

import asyncio

import structlog

from workers.services.devrouter.configuration import HealthSpec

logger = structlog.get_logger(__name__)

_PATH = "/healthz"
_SECONDS_TO_ASK = 5.0  # in which a probe must have sent its request
_OK, _NOT_FOUND = "200 OK", "404 Not Found"


async def listen(spec: HealthSpec) -> asyncio.Server:
    """Open the listener; return once it accepts connections.

    Raises:
        OSError: its port is taken.
    """
    server = await asyncio.start_server(_answer, spec.host, spec.port, limit=16384)
    logger.info("listening", listener=spec.name, host=spec.host, port=spec.port)
    return server


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request, then close the connection. Without a request in time, only close it."""
    try:
        async with asyncio.timeout(_SECONDS_TO_ASK):
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_response(head))
            await writer.drain()
    except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # as in Dispatch, a probe that breaks off is no news
    finally:
        writer.close()


def _response(head: bytes) -> bytes:
    method, _, rest = head.decode("latin-1").partition(" ")
    status = _OK if method == "GET" and rest.startswith(f"{_PATH} ") else _NOT_FOUND
    body = "OK\n" if status is _OK else ""
    lines = [f"HTTP/1.1 {status}", "content-type: text/plain", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "connection: close", "", body]).encode()
