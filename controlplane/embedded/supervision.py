"""Start and stop the installation's supervisord, and end the orphans of a killed one.

Every process that supervisord starts inherits the variable ``WAYPOST_INSTALLATION``, the
installation's id. Orphans are identified by this mark, never by a program's name. A process that
overwrites its environment with its title, as PostgreSQL's children do, is identified by its parent.
psutil compares pid and start time, so a signal never reaches a later process with the same pid.
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
# The variables of the caller that supervisord, and so every server, gets.
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "LOGNAME")


def start(installation: Installation) -> bool:
    """Start supervisord as a daemon and wait until it answers; return False if it runs already.

    supervisord starts all programs that have a file in ``run/conf.d``: brokers and routers of
    spaces, and our own servers unless ``starting`` has removed their files. Before that, orphans of
    a killed supervisord are ended, and its control socket and scratch files are removed.
    Idempotent.

    Raises:
        Unavailable: ``stack.supervisor``: supervisord does not start.
    """
    client = installation.supervisor()
    if client.is_up():
        return False
    stop_orphans(installation)
    _remove_scratch(installation)
    installation.scratch_dir.mkdir(mode=0o700, exist_ok=True)
    (installation.run_dir / "supervisor.sock").unlink(missing_ok=True)
    configuration = supervisor_client.write_configuration(installation.run_dir)
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # It becomes a daemon, so that it outlives this process and need not be reaped.
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
    """Stop supervisord and all its programs, and end orphans. Idempotent.

    Returns when no process of the installation is left. The programs named in ``last`` stop after
    all others, which stop at the same time. A process that has not ended after ``timeout_seconds``
    is ended as an orphan. Scratch files are removed, because an interrupted job leaves some. If
    this process is killed, supervisord continues to stop.
    """
    client = installation.supervisor()
    if client.is_up():
        running = list_processes(installation)
        first = [status.pid for status in client.list_programs() if status.name not in last]
        client.shut_down()  # from here on it restarts nothing
        # supervisord stops one program after the other. These signals make all except ``last`` stop
        # at once.
        for process in running:
            if process.pid in first:
                _quietly(process.terminate)
        deadline = time.monotonic() + timeout_seconds
        while any(map(_is_alive, running)) and time.monotonic() < deadline:
            client.is_up()  # each call wakes supervisord, which otherwise polls once a second
            time.sleep(0.05)
    stop_orphans(installation)
    # After the orphans, which may still write there.
    _remove_scratch(installation)


def stop_orphans(installation: Installation) -> Sequence[int]:
    """End every process of the installation that is left; return the pids. Idempotent.

    A supervisord that runs is not spared. Processes get TERM, and KILL after 10 s.
    """
    orphans = list_processes(installation)
    for process in orphans:
        _quietly(process.terminate)
    _gone, alive = psutil.wait_procs(orphans, timeout=10)
    for process in alive:
        _quietly(process.kill)
    psutil.wait_procs(alive, timeout=5)
    return [process.pid for process in orphans]


def list_processes(installation: Installation) -> Sequence[psutil.Process]:
    """Return the live processes of this installation: its supervisord and all descendants.

    Orphans of a killed supervisord are among them, and the present process is not. They are sorted
    by pid, which mostly puts a parent before its children.
    """
    alive = [process for process in psutil.process_iter(["ppid"]) if _is_alive(process)]
    ours = {process.pid for process in alive if _has_mark(process, installation.id)}
    # Adds descendants without the mark: one generation in each turn, until no process is new.
    while more := {p.pid for p in alive if p.info["ppid"] in ours} - ours:
        ours |= more
    # Without this process itself, which has the mark if one of the servers started it.
    return [process for process in alive if process.pid in ours - {os.getpid()}]


def resident_bytes(installation: Installation) -> int:
    """Return the bytes of memory that all processes of the installation take together.

    Shared pages count once (PSS). Processes that end meanwhile are left out.
    """
    total = 0
    for process in list_processes(installation):
        try:
            total += int(process.memory_full_info().pss)
        except psutil.Error:
            continue
    return total


def family_bytes(pid: int) -> int:
    """Return the bytes of memory of the process ``pid`` and all its descendants together (PSS).

    0 if ``pid`` is 0, or if one of these processes has ended or cannot be read.
    """
    if not pid:
        return 0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        # PSS divides shared pages among their users, so the sum counts each page once.
        return sum(int(member.memory_full_info().pss) for member in family)
    except psutil.Error:
        return 0


def check_disk(root: Path, needed_bytes: int = 500_000_000) -> None:
    """Check that the disk of the state folder ``root`` has enough free space for a start.

    The folder may not exist yet.

    Raises:
        Unavailable: ``stack.disk_full``: less than ``needed_bytes`` are free.
    """
    existing = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise Unavailable(
            f"{root} has {free // 1_000_000} MB free and a start needs "
            f"{needed_bytes // 1_000_000} MB: free space or choose another folder with --state.",
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
        # A zombie counts as ended. It may remain for ever: not every container reaps zombies.
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _quietly(act: Callable[[], None]) -> None:
    try:
        act()
    except psutil.NoSuchProcess:
        return
