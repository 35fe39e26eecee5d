"""Keep the picture (``state``) up to date: a thread listens to PostgreSQL and reads changes.

Database triggers (the migrations ``notify_auth*`` of workers) send the space id on channel
``CHANNEL`` with each change that matters to logins. So a revocation usually takes effect within
milliseconds. All spaces are read after each new connection and every ``FULL_READ_SECONDS``, which
repairs the effect of a lost notification.
"""

import threading
import time
from typing import Any

import psycopg
import structlog
from django.db import Error, connection

from workers.services.auth import source
from workers.services.auth.state import State

logger = structlog.get_logger(__name__)

CHANNEL = "waypost_auth"
FULL_READ_SECONDS = 30.0  # in case a notification of the database was lost
RETRY_SECONDS = 0.5  # while the database does not answer
_SLICE_SECONDS = 0.2  # how often the thread checks whether it should stop


class Watcher(threading.Thread):
    """A thread that keeps the users and permissions in ``state`` up to date.

    It runs from ``start`` until ``stop``. While the database is unavailable, ``state`` stays as it
    is, and the thread tries to connect again every ``RETRY_SECONDS``.
    """

    def __init__(self, state: State) -> None:
        super().__init__(name="auth-watcher", daemon=True)
        self._state = state
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()
        self.join()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (Error, psycopg.Error, OSError) as error:
                logger.warning(
                    "users are not refreshed: the database is unavailable; revocations are delayed",
                    error=type(error).__name__,
                )
            finally:
                # A broken connection stays broken: the next attempt opens a new one.
                connection.close()
            self._stopped.wait(RETRY_SECONDS)

    def _listen(self) -> None:
        connection.ensure_connection()
        # LISTEN before the first full read, so that no change between the two is lost.
        connection.cursor().execute(f"LISTEN {CHANNEL}")
        raw = connection.connection
        while not self._stopped.is_set():
            self._state.replace(source.read_all())
            self._follow(raw, until=time.monotonic() + FULL_READ_SECONDS)

    def _follow(self, raw: Any, until: float) -> None:
        while time.monotonic() < until and not self._stopped.is_set():
            # With stop_after=1 psycopg returns all notifications that have arrived, so several
            # changes cause one read.
            changed = {
                notification.payload
                for notification in raw.notifies(timeout=_SLICE_SECONDS, stop_after=1)
            }
            if changed:
                self._state.replace(source.read_again(self._state.picture or {}, changed))
