"""Looking at a space for as long as it waits, as the beat does; real servers take their time."""

import time

from workers.reconcile import loop
from workers.reconcile.outcome import Outcome, Wait
from workers.reconcile.ports import Ports


def look(space_id: str, ports: Ports, *, seconds: float = 120) -> Outcome | None:
    """Return what came of the space: it is passed over again until it waits no more."""
    deadline = time.monotonic() + seconds
    outcome = loop.reconcile(space_id, ports)
    while isinstance(outcome, Wait) and time.monotonic() < deadline:
        time.sleep(1)
        outcome = loop.reconcile(space_id, ports)
    return outcome
