"""Folders, files and ports of the instances on this machine, for the local adapter.

An instance has the folder ``<state>/spaces/<namespace>/<instance>``, with the folders ``etc``,
``data`` and ``log`` and the file ``ports.json``.
"""

import fcntl
import hashlib
import json
import os
import random
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from controlplane.core.files import write_atomically
from controlplane.core.reasons import Reason
from workers.infra.base import InfraError, InstanceSpec

# Below the ports that the kernel gives outgoing connections (Linux: 32768 and up), so that none of
# these takes the port of a stopped instance.
_PORTS = range(21000, 32000)
_LOG_TAIL_BYTES, _LONGEST_LOG_LINE = 4096, 300


class InstanceFiles:
    """Reads and writes the folder of one instance: ``config`` (``etc``), ``data`` and ``log``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "etc"
        self.data = folder / "data"
        self.log = folder / "log"

    def make(self) -> None:
        for folder in (self.config, self.data, self.log):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, files: Mapping[str, str]) -> None:
        """Make ``files`` the exact content of ``config``: write changed files, delete all others.

        Each file changes atomically, but the files do not change together. Idempotent.

        Raises:
            ValueError: a name leads out of the folder.
        """
        for name, text in files.items():
            path = self._inside(name)
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_atomically(path, text, mode=0o600)
                # Engines reload a file whose date is later than their last reload. The rename keeps
                # the date at which the temporary file was written. If an engine reloaded between
                # that moment and the rename, it would never see this change. So the date is set a
                # little into the future.
                ahead = time.time() + 1.5
                os.utime(path, (ahead, ahead))
        for path in sorted(self.config.rglob("*"), reverse=True):
            if path.is_file() and str(path.relative_to(self.config)) not in files:
                path.unlink()

    def with_former(self, spec: InstanceSpec) -> Mapping[str, str]:
        """Return the live files of ``spec``, and all other files as they are in ``config`` now.

        Nothing is written.
        """
        live = {name: text for name, text in spec.files.items() if name in spec.live_files}
        former = {
            str(path.relative_to(self.config)): path.read_text()
            for path in self.config.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }
        return {**{k: text for k, text in former.items() if k not in spec.live_files}, **live}

    def remove(self, *, keep_data: bool = False) -> None:
        """Delete the folder; with ``keep_data`` all of it except ``data``. Idempotent."""
        for path in self.folder.iterdir() if self.folder.exists() else ():
            if path.is_file():
                path.unlink()
            elif path != self.data or not keep_data:
                shutil.rmtree(path)
        if self.folder.exists() and not keep_data:
            self.folder.rmdir()

    def last_log_line(self) -> str:
        """Return the last non-blank line of the instance's log, at most its last 300 characters.

        Empty if there is no log. An engine that cannot start logs the reason there and exits.
        """
        try:
            with (self.log / "output.log").open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last[-_LONGEST_LOG_LINE:]

    def _inside(self, name: str) -> Path:
        path = self.config / name
        if not path.resolve().is_relative_to(self.config.resolve()):
            raise ValueError(f"{name!r} leaves the configuration folder")
        return path


def digest(files: Mapping[str, str], but: frozenset[str]) -> str:
    """Return the digest of the names and texts of all files except ``but``, the live files.

    An instance must restart when the digest changes.
    """
    document = json.dumps(
        {name: text for name, text in files.items() if name not in but}, sort_keys=True
    )
    return hashlib.sha256(document.encode()).hexdigest()


def remembered_ports(spaces: Path, instance: Path, wanted: Sequence[str]) -> dict[str, int]:
    """Return {name: port} for the listener names in ``wanted``.

    ``instance`` is the instance's folder. A port is chosen at random when its name is first wanted,
    and is stored in ``ports.json`` there. Later calls return the same port. ``spaces`` is the
    folder of all spaces: no two instances in it get the same port.

    Raises:
        InfraError: every port is taken.
    """
    path = instance / "ports.json"
    spaces.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (spaces / ".lock").open("w") as lock:
        # Several workers may choose ports at the same time. Closing the file releases the lock.
        fcntl.flock(lock, fcntl.LOCK_EX)
        known: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        missing = [name for name in wanted if name not in known]
        if missing:
            # The ports of stopped instances too: an instance uses the same ports when it starts
            # again.
            taken = {
                port
                for file in spaces.glob("*/*/ports.json")
                for port in json.loads(file.read_text()).values()
            }
            for name in missing:
                known[name] = _free_port(taken)
                taken.add(known[name])
            instance.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, json.dumps(known), mode=0o600)
    return {name: known[name] for name in wanted}


def _free_port(taken: set[int]) -> int:
    for port in random.sample(_PORTS, len(_PORTS)):
        if port not in taken and can_bind(port):
            return port
    raise InfraError(
        f"There is no free port from {_PORTS.start} to {_PORTS.stop - 1} on this machine: "
        "stop a program that has one; Waypost then continues automatically.",
        reason=Reason.PORT_TAKEN,
        retry=True,
    )


def can_bind(port: int) -> bool:
    """Return whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        # Servers set this option too. Without it the connections of a stopped server (in state
        # TIME_WAIT) would make its port look used for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
