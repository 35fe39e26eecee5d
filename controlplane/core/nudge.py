"""Ask the workers to look again, after the transaction commits.

A nudge only makes things sooner. Whatever must happen is found by the periodic passes, so losing,
repeating or reordering nudges changes nothing.
"""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = structlog.get_logger(__name__)


def after_commit(task: str, **ids: str) -> None:
    """Send ``task`` by name with keyword ids once the surrounding transaction has committed."""
    transaction.on_commit(lambda: _send(task, ids))


def _send(task: str, ids: dict[str, str]) -> None:
    try:
        current_app.send_task(task, kwargs=ids, retry=False, ignore_result=True)
    except (OperationalError, OSError):
        logger.warning("nudge not sent; the periodic pass will find the change", task=task)
