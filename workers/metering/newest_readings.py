"""Store the newest readings of a sampling cycle, and evaluate the alarms of addresses.

``sampling.apply_all`` calls ``keep`` in its transaction. Nothing here is billed, so no error here
may cost a sample.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import structlog
from django.db import InterfaceError, OperationalError, transaction

from tenants.notifications import alarms
from workers.metering import live_rows
from workers.metering.live_rows import Cycle

logger = structlog.get_logger(__name__)


def keep(cycles: Sequence[Cycle]) -> None:
    """Store the newest reading of each address of some spaces, and evaluate their alarms.

    An error is logged and loses no sample, except one of the database connection, which is raised.
    If storing all spaces at once fails, each is tried by itself.
    """
    changed: dict[str, list[str]] = {}
    event = "the newest readings cannot be stored"
    is_written = False  # ``_savepoint`` suppresses the error, so only this shows it
    with _savepoint(event, ", ".join(cycle.space_id for cycle in cycles)):
        changed = live_rows.write(cycles)
        is_written = True
    for cycle in cycles if not is_written and len(cycles) > 1 else ():
        with _savepoint(event, cycle.space_id):
            changed |= live_rows.write([cycle])
    alarmed = alarms.having_alarms([cycle.space_id for cycle in cycles])
    for cycle in cycles:
        if cycle.space_id in alarmed:
            _evaluate(cycle, changed.get(cycle.space_id, []))


def _evaluate(cycle: Cycle, changed: Collection[str]) -> None:
    """Evaluate the alarms of one space; if that fails, make all of them due."""
    is_evaluated = False
    with _savepoint("alarms cannot be evaluated", cycle.space_id):
        alarms.evaluate(cycle.space_id, changed, cycle.taken_at)
        is_evaluated = True
    if not is_evaluated:
        with _savepoint("alarms cannot be evaluated", cycle.space_id):
            alarms.make_due(cycle.space_id, cycle.taken_at)


@contextmanager
def _savepoint(event: str, space_id: str) -> Iterator[None]:
    """Run the block in a savepoint; log and suppress its errors, as ``keep`` says."""
    try:
        with transaction.atomic():
            yield
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception(event, space=space_id)
