"""The installation's supervisord: start it, stop it, and end what an earlier life left behind.

Every process that supervisord starts inherits ``WAYPOST_INSTALLATION`` = the installation's id, so
strays are known by that mark (and pid + start time, held by psutil), never by a program's name.
What writes its title over its environment, as PostgreSQL's children do, is known by its parent.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import psutil

from controlplane.core.errors import Unavailable
from controlplane.embedded import supervisor_client
from controlplane.embedded.installation import Installation

MARK = "WAYPOST_INSTALLATION"
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "LOGNAME")


def start(installation: Installation) -> bool:
    """Make the supervisord run; False when it already did. Idempotent.

    Programs of spaces found in ``run/conf.d`` start with it. A control socket without a process
    behind it, strays of a killed supervisord and their scratch files are removed first.
    """
    client = installation.supervisor()
    if client.is_up():
        return False
    stop_strays(installation)
    _remove_scratch(installation)
    installation.scratch_dir.mkdir(mode=0o700, exist_ok=True)
    (installation.run_dir / "supervisor.sock").unlink(missing_ok=True)
    configuration = supervisor_client.write_configuration(installation.run_dir)
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # It detaches itself, so that it outlives us and is nobody's unreaped child.
    started = subprocess.run(
        [sys.executable, "-m", "supervisor.supervisord", "-c", configuration],
        env={**environment, "PATH": supervisor_client.SYSTEM_PATH, MARK: installation.id},
        cwd=installation.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if started.returncode:
        raise Unavailable(
            f"The supervisor did not start: {started.stderr.strip()[-300:]}",
            code="stack.supervisor",
        )
    supervisor_client.wait_up(client)
    return True


def stop(installation: Installation, *, last: Collection[str], timeout_seconds: float = 60) -> None:
    """Stop supervisord and all its programs, and whatever survives it. Idempotent.

    All stop at the same time, but those named in ``last``, which stop after them. Killed anywhere,
    supervisord goes on ending. What they had in scratch files is removed: a job that is stopped
    half-way leaves its own.
    """
    client = installation.supervisor()
    if client.is_up():
        running = list_processes(installation)
        first = [each.pid for each in client.list_programs() if each.name not in last]
        client.shut_down()  # from here on nothing is started again
        # It stops one program after the other; asked now, they end side by side.
        for process in running:
            if process.pid in first:
                _quietly(process.terminate)
        deadline = time.monotonic() + timeout_seconds
        while any(map(_is_alive, running)) and time.monotonic() < deadline:
            client.is_up()  # each call wakes it; by itself it looks once a second
            time.sleep(0.05)
    stop_strays(installation)
    _remove_scratch(installation)


def stop_strays(installation: Installation) -> Sequence[int]:
    """End every process of the installation that is left; return their pids. Idempotent."""
    strays = list_processes(installation)
    for process in strays:
        _quietly(process.terminate)
    _gone, alive = psutil.wait_procs(strays, timeout=10)
    for process in alive:
        _quietly(process.kill)
    psutil.wait_procs(alive, timeout=5)
    return [process.pid for process in strays]


def list_processes(installation: Installation) -> Sequence[psutil.Process]:
    """Return the live processes that this installation's supervisord started, at any depth.

    In the order of their pids: mostly the parent before its children.
    """
    alive = [process for process in psutil.process_iter(["ppid"]) if _is_alive(process)]
    ours = {process.pid for process in alive if _has_mark(process, installation.id)}
    while more := {p.pid for p in alive if p.info["ppid"] in ours} - ours:
        ours |= more
    return [process for process in alive if process.pid in ours - {os.getpid()}]


def resident_bytes(installation: Installation) -> int:
    """Return the memory of the whole installation, shared pages counted once (PSS)."""
    total = 0
    for process in list_processes(installation):
        try:
            total += int(process.memory_full_info().pss)
        except psutil.Error:
            continue
    return total


def check_disk(root: Path, needed_bytes: int = 500_000_000) -> None:
    """Return if the disk of a state folder, made or not, has room for a start.

    Raises:
        Unavailable: ``stack.disk_full``.
    """
    there = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < needed_bytes:
        raise Unavailable(
            f"{root} has {free // 1_000_000} MB free and a start needs "
            f"{needed_bytes // 1_000_000} MB: make room or choose another folder with --state.",
            code="stack.disk_full",
        )


def _remove_scratch(installation: Installation) -> None:
    shutil.rmtree(installation.scratch_dir, ignore_errors=True)


def _has_mark(process: psutil.Process, installation_id: str) -> bool:
    try:
        return bool(process.environ().get(MARK) == installation_id)
    except psutil.Error:
        return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        # Nobody may be there to reap a zombie: not every container has an init.
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _quietly(act: Callable[[], None]) -> None:
    try:
        act()
    except psutil.NoSuchProcess:
        return
