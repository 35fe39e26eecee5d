"""Waiting for other threads, which are never asked to be quick."""

import threading
import time
from collections.abc import Callable


def eventually(is_true: Callable[[], bool]) -> None:
    """Return when it is true; the bound only ends a test that failed."""
    ends_at = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < ends_at
        threading.Event().wait(0.01)


def is_keeper_gone(lease: str) -> bool:
    """Return whether no thread puts off the end of the lease any more."""
    return not any(each.name == f"keeper of {lease}" for each in threading.enumerate())
