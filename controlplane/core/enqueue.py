"""Enqueue Celery tasks for the workers after the transaction has committed.

An enqueued task only makes work start sooner. Periodic tasks find all work that is due, so a task
that is lost, repeated or reordered does not change the result.
"""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from controlplane.core import request_ids

logger = structlog.get_logger(__name__)


def after_commit(task: str, **ids: str) -> None:
    """Send the Celery task named ``task`` once the present transaction has committed.

    ``ids`` are the keyword arguments of the task. After a rollback nothing is sent. Outside a
    transaction the task is sent at once. While the queue is away, the task is dropped with a
    warning in the log: a periodic task finds the work later.
    """
    request_id = request_ids.current()
    transaction.on_commit(lambda: _send(task, ids, request_id))


def _send(task: str, ids: dict[str, str], request_id: str) -> None:
    try:
        # No retries by Celery: the web request would wait for them.
        headers = {request_ids.NAME: request_id} if request_id else None
        current_app.send_task(task, kwargs=ids, retry=False, ignore_result=True, headers=headers)
    except (OperationalError, OSError):
        logger.warning("task not enqueued; the periodic pass will find the change", task=task)
