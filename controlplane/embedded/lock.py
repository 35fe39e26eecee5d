"""The lock on an installation's folder: one command at a time changes the installation.

``stack.up``, ``stack.down``, backup and restore hold the lock; ``stack.status`` shows which command
holds it. This module reads nothing in the folder itself.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from controlplane.core.errors import Conflict, Unavailable

_PAUSE_SECONDS = 0.1  # between two attempts


class Occupied(Conflict):
    """Another command runs or changes this installation, so the caller must leave it alone.

    Codes: ``stack.busy``, ``stack.running`` and ``stack.restarted``.
    """


@dataclass(frozen=True)
class _Lock:
    """An open lock file, with its lock held or not.

    The text of the file names the command that holds the lock, for other commands to display.
    """

    file: TextIO

    def try_to_take(self, how: int) -> bool:
        try:
            fcntl.flock(self.file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(self, root: Path, say: Callable[[str], None], timeout_seconds: float) -> None:
        """Wait until the lock is free, and take it. Report once which command holds it, by ``say``.

        Raises:
            Occupied: ``stack.busy``: the lock was not free after ``timeout_seconds``.
        """
        deadline = time.monotonic() + timeout_seconds
        looks = 0
        while not self.try_to_take(fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise Occupied(f"{self.read()} changes {root}: wait for it.", code="stack.busy")
            looks += 1
            # Not at the first look, because ``find_command`` takes the lock for an instant.
            if looks == 2:
                say(f"waiting for {self.read()}")
            time.sleep(_PAUSE_SECONDS)

    def write(self, text: str) -> None:
        with suppress(OSError):  # for display only: a full disk must not prevent a stop
            os.ftruncate(self.file.fileno(), 0)
            os.pwrite(self.file.fileno(), text.encode(), 0)

    def read(self) -> str:
        self.file.seek(0)
        # Empty between the moment when a command takes the lock and when it writes its name.
        return self.file.read() or "another command"


def path_of(root: Path) -> Path:
    """Return the path of a state folder's lock file, which is beside the folder."""
    return root.parent / f".{root.name.lstrip('.')}.lock"


@contextmanager
def alone(
    root: Path, command: str, *, say: Callable[[str], None], timeout_seconds: float = 5
) -> Iterator[None]:
    """Hold the lock of the folder ``root`` until the block ends.

    ``command``, such as "waypost up", is shown to other commands meanwhile. The kernel frees the
    lock when the process dies. The lock file is beside the folder and stays after a purge. A lock
    file in the folder would cause three problems:

    * A purge would remove it while another command waits for it; that command would then hold a
      lock that no other command sees.
    * A refused ``up`` would leave a folder behind.
    * ``restore`` moves the complete folder to its final path by one rename.

    Raises:
        Occupied: ``stack.busy``: another command held the lock until the wait ended.
        Unavailable: ``stack.folder``: the lock file cannot be written.
    """
    path = path_of(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")  # does not truncate: the text names the present holder
    except OSError as error:
        raise Unavailable(
            f"{path.parent} cannot be written: {error.strerror}.", code="stack.folder"
        ) from error
    with file:
        lock = _Lock(file)
        lock.wait(root, say, timeout_seconds)
        lock.write(f"`{command}` (process {os.getpid()})")
        try:
            yield
        finally:
            lock.write("")


def find_command(root: Path) -> str:
    """Return which command holds the lock of ``root`` now, as a text with its process id.

    Empty if none does, or if the lock file cannot be read.
    """
    try:
        with path_of(root).open() as file:
            lock = _Lock(file)
            # Shared, so that two readers do not take each other for the holder.
            return "" if lock.try_to_take(fcntl.LOCK_SH) else lock.read()
    except OSError:
        return ""
