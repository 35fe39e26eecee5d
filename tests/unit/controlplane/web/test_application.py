"""Answers have the length that HTTP permits."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from controlplane.web.application import Application, Limits
from controlplane.web.changes import Changes


def answered(status: str, body: bytes) -> dict[str, Any]:
    """Return the first ASGI message with which an application of ``status`` answers."""

    def wsgi(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start(status, [("X-One", "1")])
        return [body]

    async def run() -> dict[str, Any]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(dict(message))

        application = Application(wsgi, Changes({}), Limits())
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": "/x",
            "raw_path": b"/x",
            "query_string": b"",
            "root_path": "",
            "headers": [],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await application(scope, receive, send)
        await application.stop()
        return sent[0]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "body", "length"),
    [
        ("200 OK", b"four", [b"4"]),
        ("200 OK", b"", [b"0"]),
        # RFC 9110, 8.6: never for 204, and for 304 only the length of the 200.
        ("204 No Content", b"", []),
        ("304 Not Modified", b"", []),
    ],
)
def test_only_an_answer_with_a_body_has_a_length(
    status: str, body: bytes, length: list[bytes]
) -> None:
    start = answered(status, body)

    assert start["status"] == int(status[:3])
    assert [value for name, value in start["headers"] if name == b"content-length"] == length
