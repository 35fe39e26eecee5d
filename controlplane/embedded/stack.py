"""Start, stop and describe one installation.

The ``waypost`` command, the demonstration and the benches call it. ``up`` may be killed at any
point and run again: it checks and completes every step, so the next run ends in the same state.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import (
    lock,
    ports,
    refusals,
    routers,
    servers,
    starting,
    supervision,
)
from controlplane.embedded.installation import Installation

Say = Callable[[str], None]
_SAMPLE_SECONDS = 60  # the longest wait for last samples


@dataclass(frozen=True)
class ServerStatus:
    """One supervised program at one moment, as supervisord reported it: a server, broker or router.

    ``pid`` is 0 if the program does not run. ``state`` and ``message`` are supervisord's.
    ``memory_bytes`` is the proportional set size (PSS) of the process and of all its descendants.
    """

    name: str
    state: str
    pid: int
    memory_bytes: int
    message: str


@dataclass(frozen=True)
class StackStatus:
    """The state of an installation at one moment.

    ``root`` is its folder, ``url`` that of its portal. ``is_up``: the portal answers and reaches
    its database. ``changed_by`` describes the command that changes the installation now; empty if
    none does. ``servers`` is empty if supervisord does not run.
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
    """Create the installation if needed, start all servers, wait until they are ready. Idempotent.

    * ``settings``: ``WAYPOST_*`` variables to store; an empty value removes one.
    * ``own``: if given, an installation that runs already is refused. ``own`` is called just before
      the first change: from then on the caller must stop what runs in the folder.
    * ``command``: the name that other commands display while they wait for this one.

    Raises:
        Unavailable: with a code ``stack.*``, ``java.*`` or ``artifact.*`` that says what to fix.
        Occupied: ``stack.busy``: another command changes this folder; or ``stack.running``: the
            installation runs already, and ``own`` is given.
        Conflict: ``stack.port_taken``: ``web_port`` is in use; ``stack.port_fixed``: the portal
            runs on another port; ``stack.folder_taken``: the folder holds other files.
        Invalid: ``stack.not_a_folder``: ``root`` is a file.
    """
    # Both raise for a folder that is not ours, before the lock leaves its file beside it.
    installations.load(root)
    refusals.refuse_foreign_files(root)
    # The claims on ports last until the servers listen on them.
    with lock.alone(root, command, say=say), ports.claiming() as claims:
        found = installations.load(root)
        is_up = found is not None and found.supervisor().is_up()
        # All refusals come before the first change, so a refusal leaves nothing incomplete.
        installations.find_tools(found.settings if found else {})  # raises if a tool is missing
        supervision.check_disk(root)
        refusals.refuse_foreign_files(root)
        if found and is_up:
            refusals.refuse_other_use(found, web_port, must_start=own is not None)
        elif web_port:
            refusals.claim_requested(web_port, claims)
        if own:
            own()
        installation = installations.keep_tools(installations.prepare_folder(root, web_port))
        installation = _with_settings(installation, settings or {})
        if not is_up:
            # Before the ports are checked, which orphans may still occupy.
            supervision.stop_orphans(installation)
            installation = starting.settle_ports(installation, web_port, claims, say)
        # Also when it is up: this adds missing servers and restarts those whose settings changed.
        starting.start(installation, say, is_first=not is_up)
        return installation


def _with_settings(installation: Installation, settings: Mapping[str, str]) -> Installation:
    """Store ``settings`` with the installation, and remove those with an empty value from it."""
    emptied = [name for name, value in settings.items() if not value]
    merged = installations.with_settings(installation, settings)
    return installations.without_settings(merged, emptied)


def down(
    root: Path,
    *,
    purge: bool = False,
    supervisor_pid: int = 0,
    command: str = "waypost down",
    say: Say = lambda _: None,
) -> None:
    """Stop everything that ``up`` and the workers started; with ``purge`` remove the folder too.

    Before the stop, last samples are taken, unless the folder is removed, supervisord is down, or
    it has no broker or router. With a ``supervisor_pid`` other than 0, an installation that runs
    under another supervisord is refused. Idempotent without ``purge``.

    Raises:
        NothingHere: the folder holds no installation.
        Invalid: ``stack.not_a_folder``: ``root`` is a file.
        Occupied: ``stack.busy``: another command changes the folder, or ``stack.restarted``:
            another supervisord runs there.
        Unavailable: ``stack.folder``: the lock file beside the folder cannot be written; or,
            without ``purge``, ``stack.unreadable``: ``installation.json`` cannot be read.
    """
    # Refused before the lock leaves its file beside a folder that does not exist. An unreadable
    # installation is handled below, under the lock: it can still be purged.
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
            refusals.refuse_restarted(installation, supervisor_pid)
            is_up = installation.supervisor().is_up()
            if is_up and not purge and servers.may_have_instances(installation):
                take_last_samples(installation, say)
            say("stopping" if is_up else "it is down already; ending what may be left of it")
            supervision.stop(installation, last=servers.STORES)
        if purge:
            say(f"removing {root}")
            shutil.rmtree(root)


def status(root: Path) -> StackStatus:
    """Return the present state of the installation in ``root``, running or not. Changes nothing.

    Raises:
        NothingHere: the folder holds no installation.
        Invalid, Unavailable: as ``installations.load`` raises them.
    """
    installation = installations.require(root)
    supervisor = installation.supervisor()
    return StackStatus(
        root=str(root),
        url=installation.url,
        is_up=servers.is_web_ready(installation),
        changed_by=lock.find_command(root),
        servers=[
            ServerStatus(
                program.name,
                program.state,
                program.pid,
                supervision.family_bytes(program.pid),
                program.message,
            )
            # Without a supervisord no server runs, and a call to it would raise.
            for program in (supervisor.list_programs() if supervisor.is_up() else [])
        ],
        router=router_description(installation),
    )


def router_description(installation: Installation) -> str:
    """Return a text about the router of standard spaces: version and patches, or what is wrong."""
    try:
        found = installations.find_tools(installation.settings).router
        return routers.describe(found) if found else "the development router (development only)"
    except Unavailable as error:
        return f"none: {error.message}"


def take_last_samples(installation: Installation, say: Say) -> None:
    """Sample all spaces now, because brokers and routers lose their counters when they stop.

    Call it while the installation runs; it takes up to 60 s. A failure is reported with ``say`` and
    raises nothing: it must not prevent the stop.
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
