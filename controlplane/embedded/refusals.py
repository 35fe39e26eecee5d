"""Checks with which ``stack.up`` and ``stack.down`` refuse before they change anything."""

from pathlib import Path

from controlplane.core.errors import Conflict
from controlplane.embedded import lock
from controlplane.embedded.installation import Installation
from controlplane.embedded.ports import Claims


def refuse_foreign_files(root: Path) -> None:
    """Refuse a folder without an installation that holds other files.

    ``down --purge`` would later remove them.

    Raises:
        Conflict: ``stack.folder_taken``.
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
    """Refuse a start that a running installation cannot serve.

    Raises:
        Occupied: ``stack.running``: ``must_start``, and it runs already.
        Conflict: ``stack.port_fixed``: it runs on another port than the requested one.
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

    A pid of 0 refuses none.

    Raises:
        Occupied: ``stack.restarted``.
    """
    running = installation.supervisor().find_pid() if supervisor_pid else 0
    if running and running != supervisor_pid:
        raise lock.Occupied(
            f"Waypost was started again in {installation.root} meanwhile and keeps running: stop "
            "it with `waypost down`.",
            code="stack.restarted",
        )


def claim_requested(web_port: int, claims: Claims) -> None:
    """Claim the port that the user requested for the portal.

    Raises:
        Conflict: ``stack.port_taken``: it is in use or claimed.
    """
    if not claims.take(web_port):
        raise Conflict(
            f"Port {web_port} is in use by another program: stop it or choose another --port.",
            code="stack.port_taken",
        )
