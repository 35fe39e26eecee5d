"""The heartbeat of a Celery process: a file that it touches while its main loop turns.

``controlplane.celery`` calls ``beat`` at each heartbeat of a worker and at each task that Celery
beat sends; both come every two seconds. A liveness probe runs ``python -m controlplane.heartbeat``,
which exits with 1 for a process that hangs. The file's path is ``WAYPOST_HEARTBEAT_FILE``; without
it, nothing is written.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

STALE_SECONDS = 120
_VARIABLE = "WAYPOST_HEARTBEAT_FILE"


def beat(environment: Mapping[str, str] = os.environ) -> None:
    """Touch the file of the environment, if it names one."""
    if path := environment.get(_VARIABLE):
        Path(path).touch()


def hangs(file: Path, now: float, queue_answers: Callable[[], bool]) -> bool:
    """Return whether the process that touches ``file`` hangs. ``now`` is in seconds of the epoch.

    A process that waits for an absent queue does not touch the file either. It connects again by
    itself, so it does not hang. The queue is asked only if the file is missing or older than
    ``STALE_SECONDS``.
    """
    try:
        age = now - file.stat().st_mtime
    except FileNotFoundError:
        return queue_answers()
    return age > STALE_SECONDS and queue_answers()


def main() -> None:
    """Exit with 1, and say so, if the process of this environment hangs."""

    def queue_answers() -> bool:
        # Only a probe that suspects something pays for this import.
        from controlplane.core import reachability

        return reachability.queue_answers(os.environ["WAYPOST_REDIS_URL"])

    if hangs(Path(os.environ[_VARIABLE]), time.time(), queue_answers):
        sys.exit(f"no heartbeat for {STALE_SECONDS} s, although the queue answers")


if __name__ == "__main__":
    main()
