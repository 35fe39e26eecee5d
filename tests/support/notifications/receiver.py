"""A real HTTP server that receives webhooks and checks their signatures with the kept library."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass
class Receiver:
    """A running receiver.

    ``status``, ``headers`` and ``body`` are what it answers; ``got`` what came. It is ``url``.
    """

    port: int = 0
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"the answer\x00 of the receiver"
    # Headers and body of each request.
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?from=waypost"

    def verified(self, secret: str) -> list[Any]:
        """Return the verified content of every request; raise if a signature is wrong."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.got]


@contextmanager
def running() -> Iterator[Receiver]:
    """Yield a receiver on a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        """Stores each request and answers what the receiver says."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((dict(self.headers.items()), body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if receiver.status != 204:
                self.wfile.write(receiver.body)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
