"""Distinguish database outages from errors of the program, and log each in one line.

While PostgreSQL is away, every periodic task fails for the same known reason. So
``settings.LOGGING`` puts ``OneLineForOutages`` on the logger to which Celery reports failed tasks.
"""

import logging

import psycopg
import structlog
from django.db import InterfaceError, OperationalError

logger = structlog.get_logger(__name__)

# SQLSTATE codes (PostgreSQL manual, appendix A). Class 08 is a broken connection; the other three
# are an administrator's shutdown, a shutdown after a crash, and a server that is starting.
_BROKEN = "08"
_STOPPING = frozenset({"57P01", "57P02", "57P03"})


def is_database_away(error: BaseException) -> bool:
    """Return whether ``error`` means that the database is away, stopping or starting.

    Only Django's wrapped database errors can mean that. False for an error with which a working
    database answers a statement, such as a violated constraint or a timeout.
    """
    cause = error.__cause__
    if not isinstance(error, OperationalError | InterfaceError) or cause is None:
        return False
    # Only the server sends an SQLSTATE. An error of psycopg without one means no connection.
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return isinstance(cause, psycopg.Error)
    return state.startswith(_BROKEN) or state in _STOPPING


def is_deadlock(error: BaseException) -> bool:
    """Return whether PostgreSQL chose this transaction to end a deadlock, and rolled it back.

    The same transaction may succeed when it runs again.
    """
    return isinstance(error, OperationalError) and isinstance(
        error.__cause__, psycopg.errors.DeadlockDetected
    )


class OneLineForOutages(logging.Filter):
    """A logging filter that shortens the errors of Celery tasks that failed in a database outage.

    It replaces the record with its traceback by one line, ``database_away``, and lets every other
    record pass.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """For an outage, log one line and return False, which drops ``record``; else True."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not is_database_away(error):
            return True
        # Celery passes the task as ``extra={"data": ...}``.
        task = getattr(record, "data", {}).get("name", "")
        logger.warning("database_away", task=task, error=str(error).partition("\n")[0])
        return False
