"""Wait for a server of an embedded installation for as long as it works on its start.

A start takes 3 s on an idle machine and minutes on a busy one, so elapsed time alone does not tell
a slow server from a stuck one. Processor time does: a stuck server uses almost none.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from controlplane.core.errors import Unavailable
from controlplane.embedded.supervisor_client import SupervisorClient

IDLE_SECONDS = 60.0
# Ends the wait for a server that starts, fails and is started again for ever.
LONGEST_SECONDS = 600.0
# The timers of an idle server use less than this in ``IDLE_SECONDS``.
_WORK_SECONDS = 0.5


@dataclass(frozen=True)
class Clock:
    """The time of a wait, in seconds. Tests give their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait(
    is_ready: Callable[[], bool], processor_seconds: Callable[[], float], clock: Clock | None = None
) -> str:
    """Wait until ``is_ready`` returns true, and return an empty text.

    ``processor_seconds`` returns what the server has used so far; a smaller value than before means
    that the server was started again. Return the reason, for people, if the server used almost no
    processor time for ``IDLE_SECONDS``, or if ``LONGEST_SECONDS`` have passed.
    """
    clock = clock or Clock()
    begun = worked_at = clock.now()
    used = before = processor_seconds()
    while not is_ready():
        now, total = clock.now(), processor_seconds()
        if total < before or total >= used + _WORK_SECONDS:
            used, worked_at = total, now
        before = total
        if now - worked_at > IDLE_SECONDS:
            return f"it has not worked on its start for {IDLE_SECONDS:.0f} s"
        if now - begun > LONGEST_SECONDS:
            return f"its start did not end within {LONGEST_SECONDS:.0f} s"
        clock.sleep(0.1)
    return ""


def processor_seconds(supervisor: SupervisorClient, name: str) -> float:
    """Return the processor time of the program ``name`` and its children; 0 if it does not run."""
    try:
        status = supervisor.find(name)
        if status is None or not status.pid:
            return 0
        process = psutil.Process(status.pid)
        times = [part.cpu_times() for part in (process, *process.children(recursive=True))]
    except (Unavailable, psutil.Error):  # it ended meanwhile
        return 0
    return float(sum(spent.user + spent.system for spent in times))
