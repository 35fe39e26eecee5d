"""Stands before a server, as a process of its own.

``python -m tests.support.object_store.proxy PORT ENDPOINT``

Hands requests on, but those that its one rule picks. A process of its own, because some calls of
``deltalake`` hold Python's lock until they are answered. ``servers.Proxy`` starts and tells it.
"""

import json
import re
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

TELL = "/-/rule"
Given = tuple[int, Mapping[str, str], bytes]
_KEPT = ("content-type", "content-range", "etag", "last-modified", "x-amz-bucket-region")


def _refusal(does: str) -> Given:
    """Return the answer to a key that the server does not take, in S3's code for why."""
    code = "AccessDenied" if does == "refuse" else does
    error = f"<Error><Code>{code}</Code><Message>Refused.</Message></Error>"
    return 403, {"Content-Type": "application/xml"}, error.encode()


class Doorway(ThreadingHTTPServer):
    """``rule``: what it ``does`` with requests that match ``pattern``, so many ``times``."""

    daemon_threads = True
    rule: Mapping[str, Any] = {"does": "pass", "pattern": "", "times": 0}

    def __init__(self, port: int, behind: str) -> None:
        super().__init__(("127.0.0.1", port), _Visit)
        self.behind = behind
        self.client = httpx.Client(timeout=60)

    def does(self, request: str) -> str:
        """Return what to do with ``<method> <path>``; counts it."""
        if not self.rule["times"] or not re.search(self.rule["pattern"], request):
            return "pass"
        self.rule = {**self.rule, "times": self.rule["times"] - 1}
        return str(self.rule["does"])


class _Visit(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Doorway

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == TELL:
            self.server.rule = json.loads(body)
            self._answer((200, {}, b""))
            return
        does = self.server.does(f"{self.command} {self.path}")
        given = self._handed_on(body) if does in ("pass", "lose") else _refusal(does)
        if does in ("lose", "drop"):
            self.close_connection = True
        else:
            self._answer(given)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _handed_on(self, body: bytes) -> Given:
        # As it was signed: its host is our own name.
        url = f"{self.server.behind}{self.path}"
        given = self.server.client.request(
            self.command, url, headers=dict(self.headers), content=body
        )
        names = (*_KEPT, "content-length") if self.command == "HEAD" else _KEPT
        kept = {name: value for name, value in given.headers.items() if name in names}
        return given.status_code, kept, given.content

    def _answer(self, given: Given) -> None:
        status, headers, body = given
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


if __name__ == "__main__":
    Doorway(int(sys.argv[1]), sys.argv[2]).serve_forever()
