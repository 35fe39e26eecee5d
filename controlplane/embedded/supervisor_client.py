"""Add, replace, remove, restart and list programs under supervisord.

``controlplane.embedded`` does so with an installation's own servers, and ``workers.infra.local``
with the brokers and routers of spaces. Each program is a file ``<programs folder>/<name>.ini``.
Commands go to supervisord over XML-RPC on its unix socket. Source: supervisor 4.3 manual,
"Configuration File" and "XML-RPC".
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

# The PATH of supervisord and of all programs; the PATH of the caller's shell is not used.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# For tests: the longest wait until supervisord answers, and until it and its programs have ended.
_PATIENCE_SECONDS = 120
# The name becomes a file name and a section of supervisord's configuration.
_LEGAL_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,120}")
_ALREADY_GONE = {supervisor_rpc.Faults.BAD_NAME, supervisor_rpc.Faults.NOT_RUNNING}


@dataclass(frozen=True)
class Program:
    """The definition of one supervised program; ``SupervisorClient.ensure`` makes it run.

    The program runs in the foreground, and supervisord starts it again whenever it ends. If any
    field changes, ``ensure`` stops and starts the program.

    * ``revision``: any text. Changing it forces a restart; it may be a digest of the files that the
      program reads at its start.
    * ``user``: a supervisord that runs as root switches to this user.
    * ``guarded``: the kernel ends the program when its supervisord dies.
    * ``stop_seconds``: after this time, a program that does not stop is killed.
    * ``priority``: supervisord starts programs in this order, and stops them in the reverse order.
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
        """Return the command that supervisord runs: ``command``, inside setpriv if ``guarded``.

        setpriv makes the kernel send TERM when supervisord dies. Without setpriv on this machine
        the command stays as it is.
        """
        setpriv = shutil.which("setpriv", path=SYSTEM_PATH)
        if self.guarded and setpriv:
            # The kernel sends TERM when supervisord dies: no orphan may keep ports or journals.
            return [setpriv, "--pdeathsig", "TERM", "--", *self.command]
        return list(self.command)


@dataclass(frozen=True)
class ProgramStatus:
    """What supervisord reported about one program. A value.

    ``state`` is STARTING, RUNNING, BACKOFF, STOPPING, STOPPED, EXITED, FATAL or UNKNOWN. ``pid`` is
    0 if no process runs. ``message`` is supervisord's text, such as the uptime or why the program
    does not start.
    """

    name: str
    state: str
    pid: int
    started_at: int  # seconds since the epoch
    message: str

    @classmethod
    def reported(cls, answer: Mapping[str, Any]) -> Self:
        """Build the status from an element of supervisord's answer to ``getAllProcessInfo``."""
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
    """A client that controls one supervisord through its unix socket, a connection for each call.

    The programs of supervisord are files in ``programs_dir``. Several processes may have clients of
    one supervisord: ``ensure`` and ``remove`` hold a file lock. Every method that calls supervisord
    raises ``Unavailable`` if supervisord does not answer, except ``is_up`` and ``find_pid``.
    """

    def __init__(self, socket: Path, programs_dir: Path) -> None:
        self._socket = socket
        self._programs_dir = programs_dir

    def ensure(self, program: Program) -> bool:
        """Make supervisord run ``program`` as defined; return whether it was added or replaced.

        A program of this name that is defined otherwise is stopped and replaced. Idempotent. Waits
        for the stop, but not until the new program runs.

        Raises:
            Invalid: ``program.invalid``: a value cannot be written in supervisord's format.
        """
        with self._changing():
            text = render(program)
            path = self._path(program.name)
            if not path.exists() or path.read_text() != text:
                write_atomically(path, text, mode=0o600)
            # supervisord compares all files with what it runs. So this also completes a change
            # whose process was killed after it wrote the file.
            added, changed, _removed = self._reread()
            if program.name in changed:
                self._drop(program.name)
            if program.name in changed or program.name in added:
                self._call("addProcessGroup", program.name)
                return True
            return False

    def has_other(self, program: Program) -> bool:
        """Return whether a program of the same name is stored with another definition.

        Then ``ensure`` would replace it. False if none is stored.
        """
        path = self._path(program.name)
        return path.exists() and path.read_text() != render(program)

    def remove(self, name: str) -> bool:
        """Stop the program, wait until it has ended, and delete its definition. Idempotent.

        Returns False if there was no such program.
        """
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
        """Stop the program if it runs, and start it, also from state FATAL or after ``stop``."""
        self._call("stopProcessGroup", name, tolerate=_ALREADY_GONE)
        self._call("startProcessGroup", name)

    def stop(self, name: str) -> None:
        """Stop the program and keep its definition; ``restart`` starts it again. Idempotent."""
        self._call("stopProcessGroup", name, tolerate=_ALREADY_GONE)

    def list_programs(self) -> Sequence[ProgramStatus]:
        """Return the status of every program that supervisord knows, running or not."""
        return [ProgramStatus.reported(answer) for answer in self._call("getAllProcessInfo")]

    def find(self, name: str) -> ProgramStatus | None:
        """Return one program's status, or None if supervisord does not know it."""
        return next((status for status in self.list_programs() if status.name == name), None)

    def runs(self, name: str) -> bool:
        """Return whether the program is in state RUNNING."""
        status = self.find(name)
        return status is not None and status.is_running

    def is_up(self) -> bool:
        """Return whether supervisord answers and is not shutting down."""
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
        """Ask supervisord to stop all its programs and then itself; return without waiting."""
        self._call("shutdown")

    def _path(self, name: str) -> Path:
        if not _LEGAL_NAME.fullmatch(name):
            raise Invalid(f"{name!r} is not a legal program name.", code="program.invalid")
        return self._programs_dir / f"{name}.ini"

    def _reread(self) -> tuple[list[str], list[str], list[str]]:
        # The answer is a list with one triple of lists of program names.
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
                # A program in BACKOFF is STILL_RUNNING (a fault) for a moment after its stop.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _call(self, method: str, *arguments: Any, tolerate: set[int] | None = None) -> Any:
        # The transport connects to the socket. The URL is not used, but xmlrpc.client requires one.
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
    """Return the text of the file that defines ``program``, in supervisord's configuration format.

    Raises:
        Invalid: ``program.invalid``: a value cannot be written in supervisord's format.
    """
    environment = {**program.environment, "WAYPOST_PROGRAM_REVISION": program.revision}
    options = {
        "command": shlex.join(program.guarded_command()),
        "directory": program.directory,
        "environment": ",".join(f'{name}="{value}"' for name, value in environment.items()),
        "autostart": "true",
        "autorestart": "true",
        # A program that ends at once is restarted again and again, after growing delays.
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
    """Run a supervisord with its files in ``folder`` until the block ends; for tests.

    Yields its client. The path of ``folder`` must be short: that of a unix socket has at most 107
    characters.
    """
    client = SupervisorClient(folder / "supervisor.sock", folder / "conf.d")
    configuration = write_configuration(folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(configuration)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_up(client, _PATIENCE_SECONDS)
        yield client
    finally:
        process.terminate()
        process.wait(_PATIENCE_SECONDS)


def write_configuration(folder: Path) -> Path:
    """Write ``supervisord.conf`` into ``folder`` and return its path. Idempotent.

    The file tells supervisord to keep its socket, log and pid file in ``folder``, and to read
    programs from the folder ``conf.d`` in it, which is created.
    """
    (folder / "conf.d").mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "supervisord.conf"
    write_atomically(path, _CONFIGURATION.format(folder=str(folder).replace("%", "%%")), mode=0o600)
    return path


def wait_up(client: SupervisorClient, timeout_seconds: float = 20) -> None:
    """Wait until the supervisord of ``client`` answers.

    Raises:
        Unavailable: supervisord did not answer within ``timeout_seconds``.
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
    # " ;" and " #" begin a comment in supervisord's format, and nothing can escape them. A "%"
    # begins an expansion, and "%%" is a literal one.
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
