"""Folders, files and ports of the instances on this machine, for the local adapter.

Layout: ``<state>/spaces/<namespace>/<instance>/{etc,data,log}`` and ``ports.json`` beside them.
"""

import fcntl
import hashlib
import json
import os
import random
import shutil
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from controlplane.core.files import write_atomically
from workers.infra.base import InstanceSpec

# Below the kernel's ephemeral range (32768 and up), so that no outgoing connection takes one.
_PORTS = range(21000, 32000)
_LOG_TAIL_BYTES, _LONGEST_LOG_LINE = 4096, 300


class InstanceFiles:
    """The folder of one instance."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "etc"
        self.data = folder / "data"
        self.log = folder / "log"

    def make(self) -> None:
        for folder in (self.config, self.data, self.log):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, files: Mapping[str, str]) -> None:
        """Make ``files`` the exact content of the config folder; each file changes atomically."""
        for name, text in files.items():
            path = self._inside(name)
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_atomically(path, text, mode=0o600)
                _date_ahead(path)
        for path in sorted(self.config.rglob("*"), reverse=True):
            if path.is_file() and str(path.relative_to(self.config)) not in files:
                path.unlink()

    def with_former(self, spec: InstanceSpec) -> Mapping[str, str]:
        """Return the spec's live files, and all other files as they are in the folder now."""
        live = {name: text for name, text in spec.files.items() if name in spec.live_files}
        former = {
            str(path.relative_to(self.config)): path.read_text()
            for path in self.config.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }
        return {**{k: text for k, text in former.items() if k not in spec.live_files}, **live}

    def remove(self, *, keep_data: bool = False) -> None:
        """Delete the folder, without the data if ``keep_data``. Idempotent."""
        for path in self.folder.iterdir() if self.folder.exists() else ():
            if path.is_file():
                path.unlink()
            elif path != self.data or not keep_data:
                shutil.rmtree(path)
        if self.folder.exists() and not keep_data:
            self.folder.rmdir()

    def last_log_line(self) -> str:
        """Return the end of the last line of the instance's log; empty if the log is empty.

        An engine that cannot start logs the reason there and exits.
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
    """Return the digest of all files except ``but``. A change of it needs a restart."""
    document = json.dumps(
        {name: text for name, text in files.items() if name not in but}, sort_keys=True
    )
    return hashlib.sha256(document.encode()).hexdigest()


def remembered_ports(spaces: Path, instance: Path, wanted: Sequence[str]) -> dict[str, int]:
    """Return the instance's ports by name; they are chosen once and stored in its folder."""
    path = instance / "ports.json"
    with _locked(spaces):
        known: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        missing = [name for name in wanted if name not in known]
        if missing:
            taken = _taken(spaces)
            for name in missing:
                known[name] = _free_port(taken)
                taken.add(known[name])
            instance.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, json.dumps(known), mode=0o600)
    return {name: known[name] for name in wanted}


def _taken(spaces: Path) -> set[int]:
    # Of all spaces, stopped instances included: they get the same ports when they start again.
    return {
        port
        for path in spaces.glob("*/*/ports.json")
        for port in json.loads(path.read_text()).values()
    }


def _free_port(taken: set[int]) -> int:
    for port in random.sample(_PORTS, len(_PORTS)):
        if port not in taken and can_bind(port):
            return port
    raise OSError("no free port between 21000 and 31999")


def can_bind(port: int) -> bool:
    """Return whether a loopback port is free now."""
    with socket.socket() as probe:
        # As servers do. Otherwise connections that a stopped server closed (TIME_WAIT) would make
        # its port look used for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _date_ahead(path: Path) -> None:
    # Engines reload a file whose date is later than their last reload. The date is that of writing
    # the temporary file: a reload before the rename would hide this change for ever.
    ahead = time.time() + 1.5
    os.utime(path, (ahead, ahead))


@contextmanager
def _locked(spaces: Path) -> Iterator[None]:
    spaces.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (spaces / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
