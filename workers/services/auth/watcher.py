"""Keep the picture fresh: a thread that listens to PostgreSQL and reads what changed.

Triggers (workers migration ``notify_auth``) send the space's id on channel ``CHANNEL`` with each
change that matters, so a revocation arrives within milliseconds. A full read follows each new
connection and each quiet ``FULL_READ_SECONDS``, so a lost notification cannot last.
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
FULL_READ_SECONDS = 30.0
RETRY_SECONDS = 0.5
_SLICE_SECONDS = 0.2  # how long a stop may take


class Watcher(threading.Thread):
    """Listen until ``stop``. A database that is away leaves the last picture in force."""

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
                    "users are not refreshed: the database is away; revocations wait",
                    error=type(error).__name__,
                )
            finally:
                connection.close()
            self._stopped.wait(RETRY_SECONDS)

    def _listen(self) -> None:
        connection.ensure_connection()
        connection.cursor().execute(f"LISTEN {CHANNEL}")
        raw = connection.connection
        while not self._stopped.is_set():
            self._state.replace(source.read_all())
            self._follow(raw, until=time.monotonic() + FULL_READ_SECONDS)

    def _follow(self, raw: Any, until: float) -> None:
        while time.monotonic() < until and not self._stopped.is_set():
            # Several changes at once are one read: stop_after=1 returns all that has arrived.
            changed = {n.payload for n in raw.notifies(timeout=_SLICE_SECONDS, stop_after=1)}
            if changed:
                self._state.replace(source.read_again(self._state.picture or {}, changed))
