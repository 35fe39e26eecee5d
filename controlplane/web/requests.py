"""Converts ASGI requests for Django: reads a body without a thread, builds the WSGI environment.

``controlplane.web.application`` calls both.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

# Bodies up to this many bytes stay in memory, others go to a temporary file.
_IN_MEMORY = 64 * 1024


class Refused(Exception):
    """The web server refuses a request without Django: over a limit, or too slow.

    The answer is problem+json with ``status``, ``code`` and ``detail``.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


class Gone(Exception):
    """The client closed the connection before it had sent the whole request: nobody to answer."""


async def read_body(
    receive: Receive, announced: int, *, limit: int, seconds: float
) -> tuple[IO[bytes], int]:
    """Read the whole body of a request; return a file at its start, and its size in bytes.

    The caller closes the file. ``announced`` is the Content-Length in bytes, 0 if absent.

    Raises:
        Refused: 413: the body is, or is announced to be, larger than ``limit`` bytes. 408: it did
            not arrive within ``seconds``.
        Gone: the client closed the connection.
    """
    body = SpooledTemporaryFile(max_size=_IN_MEMORY)  # the caller closes it
    try:
        async with asyncio.timeout(seconds):
            size = await _spool(receive, announced, body, limit)
    except TimeoutError:
        body.close()
        detail = f"The request was not complete after {seconds:.0f} seconds: send it again."
        raise Refused(408, "request.timeout", detail) from None
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body, size


async def _spool(receive: Receive, announced: int, body: IO[bytes], limit: int) -> int:
    size, more = announced, True
    # A body that is announced too large is refused before any of it is read.
    if size <= limit:
        size = 0
        while more and size <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            size += body.write(message.get("body", b""))
            more = message.get("more_body", False)
    if size > limit:
        raise Refused(413, "request.too_large", f"A request may have at most {limit:,} bytes.")
    return size


def header(scope: Mapping[str, Any], name: bytes) -> str:
    """Return the first value of the header ``name`` (in lower case); empty if it was not sent."""
    found: bytes = next((value for key, value in scope["headers"] if key == name), b"")
    return found.decode("latin-1")


def environ(scope: Mapping[str, Any], body: IO[bytes], size: int) -> dict[str, Any]:
    """Return the WSGI environment (PEP 3333) of the ASGI request ``scope``.

    ``body`` is the whole body and ``size`` its length in bytes; the Content-Length that the client
    sent is ignored. Headers with an underscore in their names are left out. Repeated headers are
    joined with a comma.
    """
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    result: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # WSGI's texts are bytes in Latin-1.
        "PATH_INFO": scope["path"].encode("utf-8", "surrogateescape").decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": str(client[0]),
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        # A header with an underscore could pass for one that a proxy has set with a hyphen.
        if "_" not in name:
            key = f"HTTP_{name.upper().replace('-', '_')}"
            result[key] = f"{result[key]},{value}" if key in result else value
    result["CONTENT_TYPE"] = result.pop("HTTP_CONTENT_TYPE", "")
    # The size that was read: a chunked body announces none.
    result.pop("HTTP_CONTENT_LENGTH", None)
    result["CONTENT_LENGTH"] = str(size) if size or scope["method"] in {"POST", "PUT"} else ""
    return result
