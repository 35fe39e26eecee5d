"""The Celery app: queue, defaults, the beat table.

Tasks carry ids only and are acknowledged late; outcomes live in our rows, so results are off.
"""

import os

from celery import Celery
from celery.signals import beat_init, worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from controlplane import checks
from workers import schedule

app = Celery("waypost")
app.conf.update(
    broker_url=settings.REDIS_URL,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_time_limit=600,
    task_soft_time_limit=540,
    broker_connection_retry_on_startup=True,
    # Our events have levels of their own: as warnings of Celery's they would be lost at ERROR.
    worker_redirect_stdouts=False,
    # A request that nudges must not wait for a broker that is away: try twice, then log.
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
app.set_default()  # for every thread, not only the importing one: see core.nudge
app.autodiscover_tasks(["workers"])


@worker_init.connect  # type: ignore[untyped-decorator]
@beat_init.connect  # type: ignore[untyped-decorator]
def _refuse_source_keys(**_signal: object) -> None:
    try:
        checks.refuse_source_keys()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from error  # any other exception is only logged here
