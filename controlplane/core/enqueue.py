"""Enqueue tasks for the workers after the transaction commits.

An enqueued task only makes work start sooner. The periodic passes find all work that is due, so
lost, repeated or reordered tasks change nothing.
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
        # Celery's own retries would make the web request wait.
        current_app.send_task(task, kwargs=ids, retry=False, ignore_result=True)
    except (OperationalError, OSError):
        logger.warning("task not enqueued; the periodic pass will find the change", task=task)
