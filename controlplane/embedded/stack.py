"""Start, stop and describe one installation, for the ``waypost`` command and the demo.

``up`` is level-triggered: it may be killed at any point and run again, and the next run ends in the
same state. It does not need to know how far an earlier run came.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from controlplane.core.errors import Conflict, Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import lock, ports, routers, servers, supervision
from controlplane.embedded.installation import Installation

Say = Callable[[str], None]
_SERVER_PORTS = ("postgres", "valkey", "web", "auth")
_SAMPLE_SECONDS = 60  # the longest wait for last samples


@dataclass(frozen=True)
class ServerStatus:
    """One supervised program. ``memory_bytes`` is its PSS with that of its child processes."""

    name: str
    state: str
    pid: int
    memory_bytes: int
    message: str


@dataclass(frozen=True)
class StackStatus:
    """The state of an installation: ``is_up`` means that the portal reports it is ready.

    ``changed_by`` describes the command that changes the folder now; empty if none does.
    """

    root: str
    url: str
    is_up: bool
    changed_by: str
    servers: Sequence[ServerStatus]
    router: str  # a text about the router that standard spaces run on


def up(
    root: Path,
    *,
    web_port: int | None = None,
    settings: Mapping[str, str] | None = None,
    own: Callable[[], None] | None = None,
    command: str = "waypost up",
    say: Say = lambda _: None,
) -> Installation:
    """Start everything and return the installation once the portal is ready. Idempotent.

    * ``settings``: ``WAYPOST_*`` variables to store with this installation.
    * ``own``: refuse an installation that runs already. It is called once the caller is
      responsible for stopping what runs in the folder.
    * ``command``: what other commands display while they wait for this one.

    Raises:
        Unavailable: with a code ``stack.*``, ``java.*`` or ``artifact.*`` that says what to fix.
        Occupied: ``stack.busy``: another command changes this folder; or ``stack.running``: it runs
            already, and ``own`` is given.
        Conflict: ``stack.port_taken``: the requested port is in use; ``stack.port_fixed``: it runs
            on another port; ``stack.folder_taken``: the folder holds other files.
        Invalid: ``stack.not_a_folder``: it is a file.
    """
    # Before the lock, whose file would be left beside a folder that is not ours.
    installations.load(root)
    _refuse_foreign_files(root)
    # The claims last until the servers listen on their ports themselves.
    with lock.alone(root, command, say=say), ports.claiming() as claims:
        is_up = _is_up(root)
        _refuse_early(root, claims, is_up=is_up, web_port=web_port, must_start=own is not None)
        if own:
            own()
        installation = installations.keep_tools(_prepare_folder(root, web_port))
        if settings:
            installation = installations.with_settings(installation, settings)
        if not is_up:
            # Before the ports are checked, which orphans may still occupy.
            supervision.stop_orphans(installation)
            installation = _settle_ports(installation, web_port, claims, say)
            _remove_own_programs(installation)
        # Also when it is up: this restarts servers that ended or whose settings changed.
        _start_stores(installation, say)
        _prepare_database(installation, say)
        _start_services(installation, say)
        return installation


def down(
    root: Path,
    *,
    purge: bool = False,
    supervisor_pid: int = 0,
    command: str = "waypost down",
    say: Say = lambda _: None,
) -> None:
    """Stop everything that ``up`` and the workers started; with ``purge`` remove the folder too.

    Last samples are taken before, unless the folder is removed. With a ``supervisor_pid``, only
    what this supervisord runs is stopped; with 0, whatever runs.

    Raises:
        NothingHere: the folder holds no installation.
        Invalid: ``stack.not_a_folder``: it is a file.
        Occupied: ``stack.busy``: another command changes the folder, or ``stack.restarted``:
            another supervisord runs there.
        Unavailable: ``stack.folder``: the lock file beside the folder cannot be written.
    """
    # Before the lock, whose file would be left beside a folder that does not exist. An unreadable
    # installation is examined below, under the lock: it can still be purged.
    with suppress(Unavailable):
        installations.require(root)
    with lock.alone(root, command, say=say):
        try:
            installation = installations.require(root)
        except Unavailable:
            if not purge:
                raise
            installation = None
        if installation:
            _refuse_restarted(installation, supervisor_pid)
            is_up = installation.supervisor().is_up()
            if is_up and not purge:
                take_last_samples(installation, say)
            say("stopping" if is_up else "it is down already; ending what may be left of it")
            supervision.stop(installation, last=servers.STORES)
        if purge:
            say(f"removing {root}")
            shutil.rmtree(root)


def status(root: Path) -> StackStatus:
    """Return the state of the installation.

    Raises:
        NothingHere: the folder holds no installation.
    """
    installation = installations.require(root)
    return StackStatus(
        root=str(root),
        url=installation.url,
        is_up=servers.is_web_ready(installation),
        changed_by=lock.find_command(root),
        servers=_list_servers(installation),
        router=router_in_words(installation),
    )


def router_in_words(installation: Installation) -> str:
    """Return the version and patches of the router of standard spaces, or what is wrong with it."""
    try:
        found = installations.find_tools(installation.settings).router
        return routers.describe(found) if found else "the development router (development only)"
    except Unavailable as error:
        return f"none: {error.message}"


def take_last_samples(installation: Installation, say: Say) -> None:
    """Take last samples, because brokers and routers lose their counters when they stop.

    A failure is reported and does not prevent the stop.
    """
    say("taking last samples")
    try:
        result = subprocess.run(
            [sys.executable, "-m", "controlplane.cli.sample"],
            env=installation.environment(),
            cwd=installation.run_dir,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SAMPLE_SECONDS,
        )
        (installation.log_dir / "sample.log").write_text(result.stdout + result.stderr)
        is_complete = result.returncode == 0
    except (subprocess.TimeoutExpired, OSError, Unavailable):
        is_complete = False
    if not is_complete:
        say("not every counter could be read; invoices will show the gap")


def _is_up(root: Path) -> bool:
    found = installations.load(root)
    return found is not None and found.supervisor().is_up()


def _refuse_early(
    root: Path, claims: ports.Claims, *, is_up: bool, web_port: int | None, must_start: bool
) -> None:
    """Refuse before anything is written, so that a refusal leaves nothing incomplete."""
    found = installations.load(root)
    installations.find_tools(found.settings if found else {})  # raises if a tool is missing
    supervision.check_disk(root)
    _refuse_foreign_files(root)
    if is_up:
        _refuse_other_use(found, web_port, must_start=must_start)
    elif web_port:
        _claim_requested(web_port, claims)


def _claim_requested(web_port: int, claims: ports.Claims) -> None:
    if not claims.take(web_port):
        raise Conflict(
            f"Port {web_port} is in use by another program: stop it or choose another --port.",
            code="stack.port_taken",
        )


def _refuse_foreign_files(root: Path) -> None:
    """Refuse a folder that holds other files: ``down --purge`` would remove them all."""
    if not root.is_dir() or _holds_installation(root):
        return
    # Not "==": a killed `up` may leave a temporary file of installation.json.
    foreign = sorted(path.name for path in root.iterdir() if "installation.json" not in path.name)
    if foreign:
        raise Conflict(
            f"{root} holds other files ({', '.join(foreign[:3])}), and an installation needs a "
            "folder of its own: choose a new one with --state.",
            code="stack.folder_taken",
        )


def _refuse_other_use(
    running: Installation | None, web_port: int | None, *, must_start: bool
) -> None:
    if running is None:
        return
    if must_start:
        raise lock.Occupied(
            f"Waypost already runs in {running.root}, at {running.url}, and is left alone: stop it "
            "with `waypost down`, or choose another folder with --state.",
            code="stack.running",
        )
    if web_port and web_port != running.ports.web:
        raise Conflict(
            f"It already runs, at {running.url}: `waypost down` first.", code="stack.port_fixed"
        )


def _refuse_restarted(installation: Installation, supervisor_pid: int) -> None:
    running = installation.supervisor().find_pid() if supervisor_pid else 0
    if running and running != supervisor_pid:
        raise lock.Occupied(
            f"Waypost was started again in {installation.root} meanwhile and keeps running: stop "
            "it with `waypost down`.",
            code="stack.restarted",
        )


def _prepare_folder(root: Path, web_port: int | None) -> Installation:
    try:
        found = installations.load(root)
        installation = found or installations.create(root, web_port=web_port)
        for folder in (installation.run_dir, installation.log_dir, installation.scratch_dir):
            folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(
            f"{root} cannot be written: {error.strerror}.", code="stack.folder"
        ) from error
    return installation


def _settle_ports(
    installation: Installation, web_port: int | None, claims: ports.Claims, say: Say
) -> Installation:
    """Keep the stored ports; replace those that another program or another `up` took meanwhile."""
    if web_port:
        installation = installations.move_ports(installation, {"web": web_port})
    taken = [name for name in _SERVER_PORTS if not claims.take(getattr(installation.ports, name))]
    if taken:
        say(f"moving to other ports, because another program has them: {', '.join(taken)}")
        installation = installations.move_ports(
            installation, {name: claims.take_any() for name in taken}
        )
    return installation


def _remove_own_programs(installation: Installation) -> None:
    # supervisord starts all programs that it finds, and only brokers and routers may start like
    # that. Our own servers start in order and with the present settings.
    for name in (*servers.STORES, *servers.SERVICES):
        (installation.run_dir / "conf.d" / f"{name}.ini").unlink(missing_ok=True)


def _start_stores(installation: Installation, say: Say) -> None:
    say("starting PostgreSQL and Valkey")
    supervision.start(installation)
    supervisor = installation.supervisor()
    supervisor.ensure(servers.postgres_program(installation))
    supervisor.ensure(servers.valkey_program(installation))
    servers.wait_postgres(installation)
    servers.wait_valkey(installation)


def _prepare_database(installation: Installation, say: Say) -> None:
    say("preparing the database")
    # Its own process: this layer must not import models, and Django is set up once per process.
    result = subprocess.run(
        [sys.executable, "-m", "controlplane.cli.prepare"],
        env={
            **installation.environment(),
            "WAYPOST_OPERATOR_PASSWORD": installation.secrets.operator_password,
        },
        cwd=installation.run_dir,
        capture_output=True,
        text=True,
        check=False,
    )
    (installation.log_dir / "prepare.log").write_text(result.stdout + result.stderr)
    if result.returncode:
        raise Unavailable(
            f"The database could not be prepared:\n{_last_line(result.stderr)}\n"
            f"The full log is {installation.log_dir / 'prepare.log'}.",
            code="stack.prepare",
        )


def _start_services(installation: Installation, say: Say) -> None:
    say("starting portal, workers and auth service")
    supervisor = installation.supervisor()
    for program in servers.service_programs(installation):
        supervisor.ensure(program)
    servers.wait_services(installation)


def _list_servers(installation: Installation) -> Sequence[ServerStatus]:
    supervisor = installation.supervisor()
    if not supervisor.is_up():
        return []
    return [
        ServerStatus(
            program.name, program.state, program.pid, _memory(program.pid), program.message
        )
        for program in supervisor.list_programs()
    ]


def _memory(pid: int) -> int:
    """Return the PSS of a process and its descendants: pages they share are counted once."""
    if not pid:
        return 0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        return sum(int(member.memory_full_info().pss) for member in family)
    except psutil.Error:
        return 0


def _holds_installation(root: Path) -> bool:
    return (root / "installation.json").exists()


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
