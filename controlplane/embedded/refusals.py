"""The checks with which ``stack.up`` and ``stack.down`` refuse to run, before any change."""

from pathlib import Path

from controlplane.core.errors import Conflict
from controlplane.embedded import lock
from controlplane.embedded.installation import Installation
from controlplane.embedded.ports import Claims


def refuse_foreign_files(root: Path) -> None:
    """Refuse the folder ``root`` if it holds files but no installation.

    ``down --purge`` would later remove these files. A folder that does not exist is accepted.

    Raises:
        Conflict: ``stack.folder_taken``: the folder holds other files.
    """
    if not root.is_dir() or (root / "installation.json").exists():
        return
    # ``not in``: a killed `up` may leave a temporary file whose name contains installation.json.
    foreign = sorted(path.name for path in root.iterdir() if "installation.json" not in path.name)
    if foreign:
        raise Conflict(
            f"{root} holds other files ({', '.join(foreign[:3])}), and an installation needs a "
            "folder of its own: choose a new one with --state.",
            code="stack.folder_taken",
        )


def refuse_other_use(running: Installation, web_port: int | None, *, must_start: bool) -> None:
    """Refuse an ``up`` whose demands the installation ``running``, which is up, does not meet.

    ``must_start``: the caller accepts only an installation that it starts itself. ``web_port`` is
    the requested port of the portal; None accepts any.

    Raises:
        Occupied: ``stack.running``: ``must_start`` is True.
        Conflict: ``stack.port_fixed``: the portal has another port than ``web_port``.
    """
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


def refuse_restarted(installation: Installation, supervisor_pid: int) -> None:
    """Refuse to stop an installation that runs under another supervisord than ``supervisor_pid``.

    A ``supervisor_pid`` of 0 accepts every supervisord. An installation that is down is accepted.

    Raises:
        Occupied: ``stack.restarted``: another supervisord runs.
    """
    running = installation.supervisor().find_pid() if supervisor_pid else 0
    if running and running != supervisor_pid:
        raise lock.Occupied(
            f"Waypost was started again in {installation.root} meanwhile and keeps running: stop "
            "it with `waypost down`.",
            code="stack.restarted",
        )


def claim_requested(web_port: int, claims: Claims) -> None:
    """Claim in ``claims`` the port that the user requested for the portal.

    Raises:
        Conflict: ``stack.port_taken``: the port is in use, or another command has claimed it.
    """
    if not claims.take(web_port):
        raise Conflict(
            f"Port {web_port} is in use by another program: stop it or choose another --port.",
            code="stack.port_taken",
        )
