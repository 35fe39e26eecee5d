"""Waiting for what other threads and servers do, which are never asked to be quick."""

import threading
import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], what: str = "it holds", seconds: float = 120) -> None:
    """Return once ``holds`` does; the bound only ends a test that failed, which says ``what``.

    The pauses grow with the time waited, so that the look takes no processor from what it waits
    for. The wait gets longer by a tenth at most.
    """
    began_at = time.monotonic()
    while not holds():
        waited = time.monotonic() - began_at
        assert waited < seconds, f"not in {seconds:.0f} s: {what}"
        threading.Event().wait(min(max(0.02, waited / 10), 0.25))


def is_keeper_gone(lease: str) -> bool:
    """Return whether no thread puts off the end of the lease any more."""
    return not any(thread.name == f"keeper of {lease}" for thread in threading.enumerate())
