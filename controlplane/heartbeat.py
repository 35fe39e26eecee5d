"""The heartbeat of a Celery process: a file that the process touches while its main loop turns.

``controlplane.celery`` calls ``beat`` at each heartbeat of a worker and at each task that Celery
beat sends; both come every two seconds. A liveness probe runs ``python -m controlplane.heartbeat``,
which exits with 1 if the process hangs. The environment variable ``WAYPOST_HEARTBEAT_FILE`` names
the file; without the variable, nothing is written.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

STALE_SECONDS = 120  # after which a process counts as hanging
_VARIABLE = "WAYPOST_HEARTBEAT_FILE"


def beat(environment: Mapping[str, str] = os.environ) -> None:
    """Touch the file that ``WAYPOST_HEARTBEAT_FILE`` names; do nothing without this variable."""
    if path := environment.get(_VARIABLE):
        Path(path).touch()


def hangs(file: Path, now: float, queue_answers: Callable[[], bool]) -> bool:
    """Return whether the process that should touch ``file`` hangs. ``now`` is a Unix time.

    The process hangs if the queue answers, but the file is missing or was not touched for
    ``STALE_SECONDS``. While the queue (Redis) is away, a healthy process does not touch the file
    either, and connects again by itself. ``queue_answers`` is called only if the file is missing or
    old.
    """
    try:
        age = now - file.stat().st_mtime
    except FileNotFoundError:
        return queue_answers()
    return age > STALE_SECONDS and queue_answers()


def main() -> None:
    """Exit with 1 and a message if the Celery process of this environment hangs; else return.

    Needs ``WAYPOST_HEARTBEAT_FILE`` and, if that file is old, ``WAYPOST_REDIS_URL``.
    """

    def queue_answers() -> bool:
        # Imported here: a probe that finds a fresh file does not need it.
        from controlplane.core import reachability

        return reachability.queue_answers(os.environ["WAYPOST_REDIS_URL"])

    if hangs(Path(os.environ[_VARIABLE]), time.time(), queue_answers):
        sys.exit(f"no heartbeat for {STALE_SECONDS} s, although the queue answers")


if __name__ == "__main__":
    main()
