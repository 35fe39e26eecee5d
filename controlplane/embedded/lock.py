"""One command at a time changes an installation's folder; the others say for which they wait."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from controlplane.core.errors import Conflict, Unavailable


class Occupied(Conflict):
    """Somebody else runs this installation: what runs there is not the caller's to stop."""


@contextmanager
def alone(
    root: Path, command: str, *, say: Callable[[str], None], timeout_seconds: float = 5
) -> Iterator[None]:
    """Hold the folder's lock, which the kernel frees when the holder dies.

    ``command``, such as "waypost up", is what others are told meanwhile. The lock file is beside
    the folder: inside, a purge would remove it under a waiting caller, who would then hold a lock
    that nobody else sees; a refused `up` would leave a folder behind; and `restore` puts the whole
    folder in place by one rename. So it stays after a purge, too.

    Raises:
        Occupied: ``stack.busy``: another command holds it, and did so to the end of the wait.
        Unavailable: ``stack.folder``: there is no place for the lock.
    """
    path = _place(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    except OSError as error:
        raise Unavailable(
            f"{path.parent} cannot be written: {error.strerror}.", code="stack.folder"
        ) from error
    with lock:
        if not _took(lock, fcntl.LOCK_EX):
            say(f"waiting for {_read(lock)}")
            _wait(lock, root, timeout_seconds)
        lock.truncate(0)
        lock.write(f"`{command}` (process {os.getpid()})")
        lock.flush()
        yield


def find_command(root: Path) -> str:
    """Return which command changes the folder now, in words for people; empty: none does."""
    try:
        with _place(root).open() as lock:
            return "" if _took(lock, fcntl.LOCK_SH) else _read(lock)
    except OSError:
        return ""


def _place(root: Path) -> Path:
    return root.parent / f".{root.name.lstrip('.')}.lock"


def _took(lock: TextIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(lock: TextIO, root: Path, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not _took(lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise Occupied(f"{_read(lock)} changes {root}: wait for it.", code="stack.busy")
        time.sleep(0.1)


def _read(lock: TextIO) -> str:
    lock.seek(0)
    return lock.read() or "another command"
