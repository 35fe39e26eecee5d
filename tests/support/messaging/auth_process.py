"""The auth service as a process of its own, on the tests' database."""

import signal
import subprocess
import sys
from pathlib import Path

from controlplane.embedded import ports
from tests.support import product_process
from tests.support.waiting import eventually


class AuthProcess:
    """The auth service as it is run in an installation."""

    def __init__(self, port: int, folder: Path, control_ca_dir: Path) -> None:
        self._port, self._folder = port, folder
        self._environment = product_process.environment(
            folder, WAYPOST_CONTROL_CA_DIR=str(control_ca_dir)
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._said_before = 0  # by earlier processes

    def start(self, **environment: str) -> None:
        self.launch(**environment)
        eventually(self.listens, "auth listens")

    def launch(self, **environment: str) -> None:
        """Start it without waiting: it listens only once it knows users."""
        command = [sys.executable, "-m", "workers.services.auth", "--port", str(self._port)]
        with (self._folder / "auth.log").open("ab") as log:
            self._said_before = log.tell()
            self._process = subprocess.Popen(
                command, env={**self._environment, **environment}, stdout=log, stderr=log
            )

    def waits(self) -> bool:
        """Return whether it has said that it waits for users."""
        said = (self._folder / "auth.log").read_bytes()[self._said_before :]
        return b"waits for the users" in said

    def listens(self) -> bool:
        return ports.is_open("127.0.0.1", self._port)

    def kill(self) -> None:
        """As ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Ask it to stop, if it runs; it must end by itself and without an error."""
        if self._process is not None:
            assert self.end() == 0, (self._folder / "auth.log").read_text()

    def end(self) -> int:
        """Ask the running process to stop and return its exit code; one that does not is killed."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(120)
        finally:
            self.kill()
