"""A database that is away: told apart from a mistake of ours, and logged in one line.

While PostgreSQL is away every periodic task fails, each for the same known reason. The filter is
named by ``settings.LOGGING`` on the logger where Celery tells of failed tasks.
"""

import logging

import psycopg
import structlog
from django.db import InterfaceError, OperationalError

logger = structlog.get_logger(__name__)

# PostgreSQL manual, appendix A: class 08 is a broken connection; then shutdown, crash, starting up.
_BROKEN = "08"
_STOPPING = frozenset({"57P01", "57P02", "57P03"})


def is_database_away(error: BaseException) -> bool:
    """Return whether the database did not answer, as opposed to having answered with an error."""
    cause = error.__cause__
    if not isinstance(error, OperationalError | InterfaceError) or cause is None:
        return False
    # Only the server gives a state; without one, nobody was there to give it.
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return isinstance(cause, psycopg.Error)
    return state.startswith(_BROKEN) or state in _STOPPING


class OneLineForOutages(logging.Filter):
    """Replaces the record of a task that failed without its database by one event."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be logged as it stands."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not is_database_away(error):
            return True
        task = getattr(record, "data", {}).get("name", "")
        logger.warning("database_away", task=task, error=str(error).partition("\n")[0])
        return False
