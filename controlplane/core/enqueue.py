"""Enqueue tasks for the workers after the transaction commits.

An enqueued task only makes work start sooner. Periodic tasks find all work that is due, so a task
that is lost, repeated or reordered does not change the result.
"""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = structlog.get_logger(__name__)


def after_commit(task: str, **ids: str) -> None:
    """Send the task named ``task``, with ``ids`` as arguments, once the transaction has committed.

    Outside a transaction it is sent at once. Never raises while the queue is away.
    """
    transaction.on_commit(lambda: _send(task, ids))


def _send(task: str, ids: dict[str, str]) -> None:
    try:
        # No retries by Celery: the web request would wait for them.
        current_app.send_task(task, kwargs=ids, retry=False, ignore_result=True)
    except (OperationalError, OSError):
        logger.warning("task not enqueued; the periodic pass will find the change", task=task)
