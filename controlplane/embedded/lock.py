"""One command at a time changes an installation's folder; the others say for which they wait.

Held by ``stack.up`` and ``down``, by backup and restore; asked by ``stack.status``. It knows
nothing of what is in the folder.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from controlplane.core.errors import Conflict, Unavailable

_PAUSE_SECONDS = 0.1


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
        Occupied: ``stack.busy``: another command held it to the end of the wait.
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
        _wait(lock, root, say, timeout_seconds)
        _write(lock, f"`{command}` (process {os.getpid()})")
        try:
            yield
        finally:
            _write(lock, "")


def find_command(root: Path) -> str:
    """Return which command changes the folder now, in words for people; empty: none does."""
    try:
        with _place(root).open() as lock:
            return "" if _try_to_take(lock, fcntl.LOCK_SH) else _read(lock)
    except OSError:
        return ""


def _place(root: Path) -> Path:
    return root.parent / f".{root.name.lstrip('.')}.lock"


def _try_to_take(lock: TextIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(lock: TextIO, root: Path, say: Callable[[str], None], timeout_seconds: float) -> None:
    """Take the lock; who only asks for its holder has it for an instant, which is no waiting."""
    deadline = time.monotonic() + timeout_seconds
    looks = 0
    while not _try_to_take(lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise Occupied(f"{_read(lock)} changes {root}: wait for it.", code="stack.busy")
        looks += 1
        if looks == 2:
            say(f"waiting for {_read(lock)}")
        time.sleep(_PAUSE_SECONDS)


def _write(lock: TextIO, text: str) -> None:
    with suppress(OSError):  # a courtesy only: a full disk does not hinder who wants to stop
        os.ftruncate(lock.fileno(), 0)
        os.pwrite(lock.fileno(), text.encode(), 0)


def _read(lock: TextIO) -> str:
    lock.seek(0)
    return lock.read() or "another command"
