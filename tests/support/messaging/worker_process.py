"""A worker process that carries out one request for messages, and its death in the middle.

The process uses the product's own wiring: settings, adapters, database.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import product_process
from tests.support.waiting import eventually


class WorkerProcess:
    """Starts processes that carry out a request; ``state_dir`` has the brokers' files.

    The folder also has the socket of the supervisor that runs the brokers, and the identities with
    which workers reach them (``identities_dir``).
    """

    def __init__(self, state_dir: Path, log: Path) -> None:
        self._state_dir, self._log = state_dir, log

    @contextmanager
    def running(self, request_id: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Yield a process that carries out the request to its end; kill it if it still runs."""
        environment = product_process.environment(
            self._state_dir, WAYPOST_SUPERVISOR_SOCKET=str(self._state_dir / "supervisor.sock")
        )
        command = [sys.executable, "-m", "tests.support.messaging.worker_process", request_id]
        with (
            self._log.open("ab") as log,
            subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def finish(self, request_id: str, *, seconds: float) -> None:
        """Let a process carry out the request to its end; it must end without an error."""
        with self.running(request_id) as process:
            assert process.wait(seconds) == 0, self._log.read_text()

    def kill_when(
        self, request_id: str, is_in_the_middle: Callable[[], bool], *, seconds: float
    ) -> None:
        """Start a process and kill it (SIGKILL) at a moment when ``is_in_the_middle`` holds.

        The process is stopped for each look, so that what was seen still holds when it dies.
        """
        with self.running(request_id) as process:

            def is_caught() -> bool:
                assert process.poll() is None, self._log.read_text()
                process.send_signal(signal.SIGSTOP)
                if is_in_the_middle():
                    return True
                process.send_signal(signal.SIGCONT)
                return False

            eventually(is_caught, "the worker is in the middle", seconds=seconds)
            process.kill()
            assert process.wait(30) == -signal.SIGKILL


def identities_dir(state_dir: Path) -> Path:
    """Return where a worker process with this state folder looks for its identities."""
    return state_dir / "run" / "identities"


def _main(request_id: str) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from workers import wiring

    # What ``workers.tasks.run_message_request`` does, without a queue of tasks between the runs.
    while (pause := wiring.message_worker().run(request_id)) is not None:
        time.sleep(pause)


if __name__ == "__main__":
    _main(*sys.argv[1:])
