"""An entrance before a server of this process: between two tests no request is inside."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_SECONDS = 60.0


class Entrance:
    """A WSGI application that passes requests on while it is open.

    It is closed at first. A request that comes while it is closed waits; an entrance that was
    ``shut_down`` answers with 503. A request is inside until its response is closed, which is
    after the client has the last byte: Django handles its database connection that late.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._changed = threading.Condition()
        self._is_open = False
        self._is_over = False
        self._inside = 0

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer a request, once the entrance is open."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._is_over)
            if self._is_over:
                start("503 Service Unavailable", [("Content-Length", "0")])
                return []
            self._inside += 1
        try:
            return _Closing(self._application(environ, start), self._leave)
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def open(self) -> None:
        """Let requests in."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in, and wait until everybody is out.

        Raises TimeoutError if a request is not answered within a minute.
        """
        with self._changed:
            self._is_open = False
            if not self._changed.wait_for(lambda: self._inside == 0, _SECONDS):
                raise TimeoutError(f"{self._inside} requests are unanswered")

    def shut_down(self) -> None:
        """Answer those who wait, and everybody later, with 503."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


class _Closing:
    """A response that says when it was closed."""

    def __init__(self, response: Iterable[bytes], closed: Callable[[], None]) -> None:
        self._response = response
        self._closed = closed

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)

    def close(self) -> None:
        try:
            if hasattr(self._response, "close"):
                self._response.close()
        finally:
            self._closed()


@contextmanager
def guarded(live_server: Any) -> Iterator[Entrance]:
    """Put an entrance before pytest-django's live server until the block ends."""
    httpd = live_server.thread.httpd
    application = httpd.get_app()
    entrance = Entrance(application)
    httpd.set_app(entrance)
    try:
        yield entrance
    finally:
        entrance.shut_down()
        httpd.set_app(application)
