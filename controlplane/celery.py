"""The Celery app ``app``: its settings, signal handlers, and the schedule of ``workers.schedule``.

The arguments of a task are ids at most. A task is acknowledged after it has ended (``acks_late``),
so the task of a killed worker runs again. Tasks write their outcomes to PostgreSQL, so Celery's
result backend is off.
"""

import os
from collections.abc import Mapping
from typing import Any

import structlog
from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    celeryd_init,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

# These imports read the Django settings, so they come after the line above.
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from controlplane import checks, heartbeat
from controlplane.core import request_ids, time_limits
from workers import schedule

app = Celery("waypost")
app.conf.update(
    broker_url=settings.REDIS_URL,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,  # with ``acks_late``, a busy process reserves no further task
    # Seconds. The soft limit raises inside the task.
    task_time_limit=time_limits.TASK_SECONDS,
    task_soft_time_limit=time_limits.TASK_SOFT_SECONDS,
    broker_connection_retry_on_startup=True,
    # structlog prints our events to stdout. Celery would redirect them into its own log as
    # warnings, and at log level ERROR it would then drop even our errors.
    worker_redirect_stdouts=False,
    # A web request that enqueues a task must not wait while Redis is away: try twice, then log.
    broker_transport_options={
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        "interval_max": 0.2,
        "socket_connect_timeout": 2,
    },
    task_default_queue="reconcile",
    task_routes=schedule.ROUTES,
    beat_schedule=schedule.TABLE,
    timezone="UTC",
)
# By default only the importing thread uses this app. ``core.enqueue`` sends from every thread.
app.set_default()


@worker_init.connect  # type: ignore[untyped-decorator]
def import_tasks(**_signal: object) -> None:
    """Import the tasks into a starting worker."""
    # Not ``autodiscover_tasks``, because Celery beat would import the tasks too. Beat sends tasks
    # by name, and the imports would double its processor time at the start and its memory.
    from workers import tasks  # noqa: F401


@worker_init.connect  # type: ignore[untyped-decorator]
@beat_init.connect  # type: ignore[untyped-decorator]
def refuse_unsafe_settings(**_signal: object) -> None:
    """End the process at its start if its settings are unsafe."""
    try:
        checks.refuse_unsafe_settings()
    except ImproperlyConfigured as error:
        # Celery only logs other exceptions of a signal handler, and the server would start.
        raise SystemExit(str(error)) from error


@celeryd_init.connect  # type: ignore[untyped-decorator]
def refuse_tasks_longer_than_leases(options: Mapping[str, Any], **_signal: object) -> None:
    """End a starting worker whose command line lets tasks run for longer than their leases."""
    soft, hard = options.get("soft_time_limit"), options.get("time_limit")
    try:
        time_limits.require_order(
            app.conf.task_soft_time_limit if soft is None else soft,
            app.conf.task_time_limit if hard is None else hard,
        )
    except ValueError as error:
        raise SystemExit(str(error)) from error


@task_prerun.connect  # type: ignore[untyped-decorator]
def bind_request_id(task: Any, **_signal: object) -> None:
    """Add the id of the request that enqueued the task to all log events of the task."""
    # The id of the request that enqueued the task; a periodic task has none and gets its own id.
    sent = getattr(task.request, request_ids.NAME, None) or task.request.id
    structlog.contextvars.bind_contextvars(**{request_ids.NAME: sent, "task": task.name})


@task_postrun.connect  # type: ignore[untyped-decorator]
def unbind_request_id(**_signal: object) -> None:
    """Remove from further log events what ``bind_request_id`` added."""
    structlog.contextvars.unbind_contextvars(request_ids.NAME, "task")


@worker_ready.connect  # type: ignore[untyped-decorator]
def watch_pods(**_signal: object) -> None:
    """Start the watch on pods in this worker, if ``settings.WATCH_PODS`` is set."""
    if settings.WATCH_PODS:
        # Imported here, because beat and processes that only send tasks do not need it.
        from workers import pod_watcher

        pod_watcher.start()


@heartbeat_sent.connect  # type: ignore[untyped-decorator]
def worker_turns(**_signal: object) -> None:
    """Record that the worker's loop runs."""
    heartbeat.beat()


@beat_init.connect  # type: ignore[untyped-decorator]
def touch_at_each_sent_task(**_signal: object) -> None:
    """Let each task that beat sends record that beat's loop runs."""
    # Celery beat has no signal for a turn of its loop. It sends a task every two seconds
    # (``schedule.TABLE``). Other processes send tasks too, so only beat listens.
    before_task_publish.connect(beat_turns)


def beat_turns(**_signal: object) -> None:
    """Record that beat's loop runs."""
    heartbeat.beat()
