"""Start the web server: ``python -m controlplane.web [--host 127.0.0.1] [--port 8000]``.

The parent process binds the port and imports Django once. It then forks the processes that serve,
so they share the memory of the code. If one of them ends by itself, the parent starts another.
SIGTERM or SIGINT to the parent stops all.
"""

import argparse
import gc
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

# The parent waits for this time before it replaces a process that ended.
_RESTART_SECONDS = 1.0


class Family:
    """The child processes of the web server, and the parent's loop over them. Call ``run`` once.

    ``serve`` is called in each child, which ends when it returns. ``serve`` must end at SIGTERM; a
    child that still runs ``stop_seconds`` later is killed.
    """

    def __init__(self, serve: Callable[[], None], stop_seconds: int) -> None:
        self._serve, self._stop_seconds = serve, stop_seconds
        self._children: set[int] = set()
        self._stopping = False

    def run(self, processes: int) -> None:
        """Fork ``processes`` children, replace those that end, and return after SIGTERM or SIGINT.

        Returns when all children have ended. Installs signal handlers, so call it in the main
        thread.
        """
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._stop)
        signal.signal(signal.SIGALRM, self._kill)
        for _ in range(processes):
            self._start()
        while self._children:
            child, status = os.wait()
            self._children.discard(child)
            if not self._stopping:
                print(f"a web process ended ({status}); starting another", file=sys.stderr)  # noqa: T201
                time.sleep(_RESTART_SECONDS)
                self._start()

    def _start(self) -> None:
        # Signals wait until the new child is in ``_children``: ``_stop`` would miss it otherwise.
        blocked = {signal.SIGTERM, signal.SIGINT}
        signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        try:
            if self._stopping:
                return
            child = os.fork()
            if child:
                self._children.add(child)
                return
            for signum in (*blocked, signal.SIGALRM):
                signal.signal(signum, signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        try:
            self._serve()
        # The child must never return into the parent's loop.
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._send(signal.SIGTERM)
        # ``os.wait`` has no time limit, so SIGALRM ends what does not stop.
        signal.alarm(self._stop_seconds)

    def _kill(self, *_: object) -> None:
        self._send(signal.SIGKILL)

    def _send(self, signum: int) -> None:
        for child in self._children:
            os.kill(child, signum)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol's number: otherwise asyncio leaves Nagle's algorithm on, and each response
    # waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(2048)
    return listener


def main() -> None:
    """Bind the port, import Django, and serve until SIGTERM or SIGINT.

    Raises:
        ImproperlyConfigured: a setting is invalid or unsafe (``checks.refuse_unsafe_settings``).
    """
    arguments = argparse.ArgumentParser(prog="python -m controlplane.web")
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8000)
    given = arguments.parse_args()
    listener = _listen(given.host, given.port)
    with tempfile.TemporaryDirectory(prefix="waypost-web-") as shared:
        # Before the import of prometheus_client, which reads it then (core.request_metrics).
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
        _serve(listener)


def keep_code() -> None:
    """Take everything that is loaded now out of garbage collection, for good.

    It stays loaded anyway. A full collection would look at each of its objects, for over 100 ms in
    the middle of a request, and write into the memory that the processes share.
    """
    gc.collect()
    gc.freeze()


def _serve(listener: socket.socket) -> None:
    """Import Django, and serve on ``listener`` in several processes until SIGTERM or SIGINT."""
    from django.conf import settings
    from django.db import connection

    from controlplane.web import server
    from controlplane.web.application import Limits
    from controlplane.wsgi import application  # imports every view, before the forks

    # Only these parameters: Django's also name cursors and adapters, which do not work with an
    # asynchronous connection.
    names = ("dbname", "user", "password", "host", "port")
    parameters = connection.get_connection_params()
    database = {name: parameters[name] for name in names if name in parameters}
    limits = Limits(
        threads=settings.WEB_THREADS,
        body_bytes=2 * settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        # Behind proxies, every connection comes from one of them.
        source_connections=0 if settings.TRUSTED_PROXIES else settings.WEB_SOURCE_CONNECTIONS,
    )
    keep_code()
    Family(
        lambda: server.run(listener, application, database, limits), server.STOP_SECONDS + 3
    ).run(settings.WEB_PROCESSES)


if __name__ == "__main__":
    main()
