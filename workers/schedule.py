"""The schedule of the periodic tasks, and the queues of tasks. ``controlplane.celery`` reads them.

A task that Celery beat has enqueued expires after its period. So when workers return after an
outage, they do not run the same task once for each missed period.
"""

from typing import Any

from django.conf import settings

# The keys are names for Celery beat; times are in seconds.
TABLE: dict[str, dict[str, Any]] = {
    # Also finds changes whose enqueued task was lost, so it runs often.
    "reconcile-due": {
        "task": "workers.reconcile_due",
        "schedule": 2.0,
        "options": {"expires": 2},
    },
    "roll-out": {
        "task": "workers.roll_out",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    # Also finds operations whose enqueued task was lost or whose worker was killed.
    "message-requests-due": {
        "task": "workers.message_requests_due",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "release-volumes": {
        "task": "workers.release_volumes",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "sample": {
        "task": "workers.sample",
        "schedule": float(settings.SAMPLE_SECONDS),
        "options": {"expires": settings.SAMPLE_SECONDS},
    },
    "disconnect-due": {
        "task": "workers.disconnect_due",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    # Also finds events and deliveries whose enqueued task was lost, and retries that are due.
    "notify": {
        "task": "workers.notify",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "watch": {
        "task": "workers.watch",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "erase-tenants": {
        "task": "workers.erase_tenants",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "watch-spend": {
        "task": "workers.watch_spend",
        "schedule": 900.0,
        "options": {"expires": 900},
    },
    "land": {
        "task": "workers.land",
        "schedule": float(settings.LANDING_SECONDS),
        "options": {"expires": settings.LANDING_SECONDS},
    },
    "enforce-quotas": {
        "task": "workers.enforce_quotas",
        "schedule": 2.0 * settings.SAMPLE_SECONDS,
        "options": {"expires": 2 * settings.SAMPLE_SECONDS},
    },
    "run-pipeline": {
        "task": "workers.run_pipeline",
        "schedule": float(settings.PIPELINE_SECONDS),
        "options": {"expires": settings.PIPELINE_SECONDS},
    },
    # Works in one hour of the day (``periodic.keep_lakehouse``).
    "keep-lakehouse": {
        "task": "workers.keep_lakehouse",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "bill-due": {
        "task": "workers.bill_due",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    # Also finds back-tests whose task was lost, or that wait for Spark.
    "back-tests-due": {
        "task": "workers.back_tests_due",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "advance-catalog": {
        "task": "workers.advance_catalog",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    # Also finds refunds and events of providers whose first attempt was lost.
    "settle-payments": {
        "task": "workers.settle_payments",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "dun": {
        "task": "workers.dun",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    "delete-expired": {
        "task": "workers.delete_expired",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}

# Queue by task; a task that is not listed goes to the queue ``reconcile``. Tasks that run Spark,
# query the lakehouse or change thousands of invoices have their own queue and worker, so that
# sampling and reconciling never wait for them.
ROUTES: dict[str, dict[str, str]] = {
    name: {"queue": "metering"}
    for name in (
        "workers.run_pipeline",
        "workers.close_invoice",
        "workers.close_run",
        "workers.act_on_close_run",
        "workers.verify_invoice",
        "workers.read_samples",
        "workers.keep_lakehouse",
        "workers.run_back_test",
    )
}
