"""Programs under supervisord: add, replace, remove, restart and list them.

Used by ``controlplane.embedded.supervision`` for the installation's own servers and by
``workers.infra.local`` for the brokers and routers of spaces; tests start a throw-away supervisord.
One program is one file ``<programs folder>/<name>.ini``; commands go to supervisord over XML-RPC on
its unix socket. Source: supervisor 4.3 manual, "Configuration File" and "XML-RPC".
"""

import fcntl
import re
import shlex
import shutil
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from supervisor import xmlrpc as supervisor_rpc

from controlplane.core.errors import Invalid, Unavailable
from controlplane.core.files import write_atomically

# The PATH of all servers, independent of the PATH of the shell that starts them.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The name becomes a file name and a section of supervisord's configuration.
_LEGAL_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,120}")
_ALREADY_GONE = {supervisor_rpc.Faults.BAD_NAME, supervisor_rpc.Faults.NOT_RUNNING}


@dataclass(frozen=True)
class Program:
    """One supervised program, which runs in the foreground and is restarted whenever it ends.

    A program whose definition changes in any field is replaced (stopped and started).

    * ``revision``: free text for that purpose, such as a digest of files that need a restart.
    * ``user``: supervisord (as root) switches to this user.
    * ``guarded``: the program ends when its supervisord dies.
    """

    name: str
    command: Sequence[str]
    directory: str
    log_file: str
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    revision: str = ""
    stop_seconds: int = 15
    stop_signal: str = "TERM"
    priority: int = 500
    guarded: bool = True
    log_bytes: int = 5_000_000

    def guarded_command(self) -> list[str]:
        """Return the command that also ends when supervisord dies, if the program is guarded."""
        setpriv = shutil.which("setpriv", path=SYSTEM_PATH)
        if self.guarded and setpriv:
            # The kernel sends TERM, so that no orphan keeps ports or journals.
            return [setpriv, "--pdeathsig", "TERM", "--", *self.command]
        return list(self.command)


@dataclass(frozen=True)
class ProgramStatus:
    """What supervisord reports. ``state``: STARTING RUNNING BACKOFF STOPPED EXITED FATAL …"""

    name: str
    state: str
    pid: int
    started_at: int  # seconds since the epoch
    message: str

    @classmethod
    def reported(cls, answer: Mapping[str, Any]) -> Self:
        """Return the status from supervisord's answer about one process."""
        return cls(
            # Our programs have one process each, so its group has the name of the program.
            name=answer["group"],
            state=answer["statename"],
            pid=answer["pid"],
            started_at=answer["start"],
            message=answer["description"] or answer["spawnerr"],
        )

    @property
    def is_running(self) -> bool:
        return self.state == "RUNNING"


class SupervisorClient:
    """One supervisord, reached at ``socket``; its programs are files in ``programs_dir``.

    Safe for several processes at once: a change of programs holds a file lock. Every method
    raises ``Unavailable`` when supervisord does not answer.
    """

    def __init__(self, socket: Path, programs_dir: Path) -> None:
        self._socket = socket
        self._programs_dir = programs_dir

    def ensure(self, program: Program) -> bool:
        """Make ``program`` run as defined; True if it was added or replaced. Idempotent."""
        with self._changing():
            text = render(program)
            path = self._path(program.name)
            if not path.exists() or path.read_text() != text:
                write_atomically(path, text, mode=0o600)
            # supervisord compares all files, so this also completes a change that was killed.
            added, changed, _removed = self._reread()
            if program.name in changed:
                self._drop(program.name)
            if program.name in changed or program.name in added:
                self._call("addProcessGroup", program.name)
                return True
            return False

    def has_other(self, program: Program) -> bool:
        """Return whether ``ensure`` would replace another definition of this program."""
        path = self._path(program.name)
        return path.exists() and path.read_text() != render(program)

    def remove(self, name: str) -> bool:
        """Stop and remove the program; False if there was none. Waits until it has ended."""
        with self._changing():
            path = self._path(name)
            existed = path.exists()
            path.unlink(missing_ok=True)
            _added, _changed, removed = self._reread()
            if name in removed:
                self._drop(name)
                return True
            return existed

    def restart(self, name: str) -> None:
        """Stop the program if it runs, and start it, also from state FATAL."""
        self._call("stopProcessGroup", name, tolerate=_ALREADY_GONE)
        self._call("startProcessGroup", name)

    def stop(self, name: str) -> None:
        """Stop the program and keep its definition; ``restart`` starts it again."""
        self._call("stopProcessGroup", name, tolerate=_ALREADY_GONE)

    def list_programs(self) -> Sequence[ProgramStatus]:
        """Return the status of every program, in one call."""
        return [ProgramStatus.reported(answer) for answer in self._call("getAllProcessInfo")]

    def find(self, name: str) -> ProgramStatus | None:
        """Return one program's status, or None if supervisord does not know it."""
        return next((status for status in self.list_programs() if status.name == name), None)

    def runs(self, name: str) -> bool:
        """Return whether the program runs now."""
        status = self.find(name)
        return status is not None and status.is_running

    def is_up(self) -> bool:
        """Return whether supervisord answers."""
        try:
            return bool(self._call("getState")["statename"] == "RUNNING")
        except Unavailable:
            return False

    def find_pid(self) -> int:
        """Return supervisord's process id, or 0 if it does not answer."""
        try:
            return int(self._call("getPID"))
        except Unavailable:
            return 0

    def shut_down(self) -> None:
        """Ask supervisord to stop all its programs and itself; returns at once."""
        self._call("shutdown")

    def _path(self, name: str) -> Path:
        if not _LEGAL_NAME.fullmatch(name):
            raise Invalid(f"{name!r} is not a legal program name.", code="program.invalid")
        return self._programs_dir / f"{name}.ini"

    def _reread(self) -> tuple[list[str], list[str], list[str]]:
        # The result is a list with one such triple of program names.
        added, changed, removed = self._call("reloadConfig")[0]
        return added, changed, removed

    def _drop(self, name: str) -> None:
        self._call("stopProcessGroup", name, tolerate=_ALREADY_GONE)
        deadline = time.monotonic() + 30
        while True:
            try:
                self._call("removeProcessGroup", name, tolerate=_ALREADY_GONE)
                return
            except Unavailable:
                # Fault STILL_RUNNING, for a moment after a program in BACKOFF was stopped.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _call(self, method: str, *arguments: Any, tolerate: set[int] | None = None) -> Any:
        # The transport connects to the socket; xmlrpc.client only demands some URL.
        transport = supervisor_rpc.SupervisorTransport("", "", f"unix://{self._socket}")
        proxy = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
        try:
            return getattr(proxy.supervisor, method)(*arguments)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode in (tolerate or ()):
                return None
            raise Unavailable(f"supervisord refused {method}: {fault.faultString}") from fault
        except (OSError, xmlrpc.client.ProtocolError) as error:
            raise Unavailable(
                f"The supervisor does not answer at {self._socket}: run `waypost up`."
            ) from error
        finally:
            transport.close()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self._programs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._programs_dir / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def render(program: Program) -> str:
    """Return the program's section of a supervisord configuration.

    Raises:
        Invalid: a value contains characters that supervisord's format cannot express.
    """
    environment = {**program.environment, "WAYPOST_PROGRAM_REVISION": program.revision}
    options = {
        "command": shlex.join(program.guarded_command()),
        "directory": program.directory,
        "environment": ",".join(f'{name}="{value}"' for name, value in environment.items()),
        "autostart": "true",
        "autorestart": "true",
        # A server that dies at once is restarted without end; the delay grows each time.
        "startsecs": "1",
        "startretries": "1000000",
        "stopsignal": program.stop_signal,
        "stopwaitsecs": str(program.stop_seconds),
        "stopasgroup": "true",
        "killasgroup": "true",
        "priority": str(program.priority),
        "stdout_logfile": program.log_file,
        "redirect_stderr": "true",
        "stdout_logfile_maxbytes": str(program.log_bytes),
        "stdout_logfile_backups": "2",
    }
    if program.user:
        options["user"] = program.user
    for name, value in environment.items():
        _refuse_unwritable(name, value, '"')
    lines = [f"{name}={_escaped(name, value)}" for name, value in options.items()]
    return "\n".join([f"[program:{program.name}]", *lines, ""])


@contextmanager
def throwaway(folder: Path) -> Iterator[SupervisorClient]:
    """Run a supervisord of its own under ``folder`` until the block ends (tests).

    ``folder`` must be short: a unix socket's path has at most 107 characters.
    """
    client = SupervisorClient(folder / "supervisor.sock", folder / "conf.d")
    configuration = write_configuration(folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(configuration)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_up(client)
        yield client
    finally:
        process.terminate()
        process.wait(60)


def write_configuration(folder: Path) -> Path:
    """Write supervisord's own configuration into ``folder`` and return its path. Idempotent."""
    (folder / "conf.d").mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "supervisord.conf"
    write_atomically(path, _CONFIGURATION.format(folder=str(folder).replace("%", "%%")), mode=0o600)
    return path


def wait_up(client: SupervisorClient, timeout_seconds: float = 20) -> None:
    """Wait until supervisord answers.

    Raises:
        Unavailable: it did not in time.
    """
    deadline = time.monotonic() + timeout_seconds
    while not client.is_up():
        if time.monotonic() > deadline:
            raise Unavailable("The supervisor did not start; its log is supervisord.log.")
        time.sleep(0.05)


_CONFIGURATION = """\
[unix_http_server]
file={folder}/supervisor.sock
chmod=0600
[supervisord]
logfile={folder}/supervisord.log
pidfile={folder}/supervisord.pid
childlogdir={folder}
umask=077
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[include]
files={folder}/conf.d/*.ini
"""


def _escaped(name: str, value: str) -> str:
    # " ;" and " #" begin a comment in supervisord's format, which has no escape for them. A "%"
    # begins an expansion and is doubled.
    _refuse_unwritable(name, value, "\n", "\r", " ;", " #", "\t;", "\t#")
    return value.replace("%", "%%")


def _refuse_unwritable(name: str, value: str, *marks: str) -> None:
    for mark in marks:
        if mark in value:
            raise Invalid(
                f"{name} cannot be passed to the supervisor, because it contains {mark!r}: choose "
                "a folder without it.",
                code="program.invalid",
            )
