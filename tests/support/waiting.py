"""Waiting for what other threads and servers do, which are never asked to be quick."""

import threading
import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], what: str = "it holds", seconds: float = 30) -> None:
    """Return once ``holds`` does; the bound only ends a test that failed, which says ``what``."""
    ends_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends_at, f"not in {seconds:.0f} s: {what}"
        threading.Event().wait(0.02)


def is_keeper_gone(lease: str) -> bool:
    """Return whether no thread puts off the end of the lease any more."""
    return not any(thread.name == f"keeper of {lease}" for thread in threading.enumerate())
