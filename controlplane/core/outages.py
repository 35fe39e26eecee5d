"""Database outages: distinguished from errors of the program, and logged in one line.

While PostgreSQL is away, every periodic task fails for the same known reason. ``settings.LOGGING``
puts the filter on the logger to which Celery reports failed tasks.
"""

import logging

import psycopg
import structlog
from django.db import InterfaceError, OperationalError

logger = structlog.get_logger(__name__)

# PostgreSQL manual, appendix A: class 08 is a broken connection; the other three are shutdown,
# crash and start-up.
_BROKEN = "08"
_STOPPING = frozenset({"57P01", "57P02", "57P03"})


def is_database_away(error: BaseException) -> bool:
    """Return whether the database did not answer, as opposed to having answered with an error."""
    cause = error.__cause__
    if not isinstance(error, OperationalError | InterfaceError) or cause is None:
        return False
    # Only the server sends an SQLSTATE; an error of psycopg without one means no connection.
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return isinstance(cause, psycopg.Error)
    return state.startswith(_BROKEN) or state in _STOPPING


class OneLineForOutages(logging.Filter):
    """Replaces the record of a task that failed in an outage by an event of one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Log the event and return False for an outage; return True for any other record."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not is_database_away(error):
            return True
        # Celery passes the task as ``extra={"data": ...}``.
        task = getattr(record, "data", {}).get("name", "")
        logger.warning("database_away", task=task, error=str(error).partition("\n")[0])
        return False
