"""Commands on one installation take turns, and say for which other they wait."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import lock, stack

HOLD = """
import sys, time
from pathlib import Path
from controlplane.embedded import lock
with lock.alone(Path(sys.argv[1]), "waypost up", say=print):
    print("held", flush=True)
    time.sleep(600)
"""


class Holder:
    """Another process that holds the folder's lock until it is killed."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-c", HOLD, str(root)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "held\n"
        self.name = f"`waypost up` (process {self._process.pid})"

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "s"


def test_who_waits_is_told_for_what_and_goes_on_after_a_kill(root: Path) -> None:
    holder = Holder(root)
    said: list[str] = []

    def hear(line: str) -> None:
        said.append(line)
        holder.kill()

    with lock.alone(root, "waypost down", say=hear):
        assert said == [f"waiting for {holder.name}"]
        assert lock.find_command(root) == f"`waypost down` (process {os.getpid()})"
    assert lock.find_command(root) == ""
    assert lock.path_of(root).read_text() == "", "nobody is told of a command that has ended"


def test_who_waits_in_vain_is_told_for_what(root: Path) -> None:
    holder = Holder(root)
    try:
        with pytest.raises(lock.Occupied, match=r"changes .*: wait for it") as busy:
            with lock.alone(root, "waypost down", say=lambda _: None, timeout_seconds=0.3):
                pytest.fail("two at once")
    finally:
        holder.kill()

    assert busy.value.error_code == "stack.busy"
    assert holder.name in str(busy.value)


def test_what_is_free_is_taken_without_a_word(root: Path) -> None:
    said: list[str] = []

    with lock.alone(root, "waypost up", say=said.append):
        assert not root.exists(), "a refusal after this leaves no folder"
    with lock.alone(root, "waypost down", say=said.append):
        pass

    assert said == []


def test_a_glance_at_the_holder_is_no_waiting(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    lock.path_of(root).touch()

    with lock.path_of(root).open() as glance:
        fcntl.flock(glance, fcntl.LOCK_SH)

        def pause(seconds: float) -> None:
            assert seconds >= 0.1, "shorter than a glance may be"
            glance.close()  # it ends while the command pauses before it looks again

        monkeypatch.setattr(lock, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pause))
        with lock.alone(root, "waypost up", say=said.append):
            pass

    assert said == []


def test_a_full_disk_hinders_nobody(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)

    with lock.alone(root, "waypost down", say=print):
        assert lock.find_command(root) == "another command"


def test_status_tells_which_command_is_at_work(root: Path) -> None:
    made = installations.create(root)
    assert stack.status(made.root).changed_by == ""

    with lock.alone(root, "waypost up", say=print):
        assert stack.status(made.root).changed_by == f"`waypost up` (process {os.getpid()})"


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unavailable) as refused:
        with lock.alone(tmp_path / "file" / "s", "waypost up", say=print):
            pytest.fail("there is no place for it")

    assert refused.value.error_code == "stack.folder"
