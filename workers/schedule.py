"""The Celery beat schedule and the task routes. Plain data, read by ``controlplane.celery``.

Each message expires after the period of its task, so a worker that was away does not repeat the
task many times when it returns.
"""

from typing import Any

from django.conf import settings

TABLE: dict[str, dict[str, Any]] = {
    # Also finds changes whose message was lost, so it runs often.
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
    "bill-due": {
        "task": "workers.bill_due",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "delete-expired": {
        "task": "workers.delete_expired",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}

# Slow tasks have their own queue and worker: sampling and reconciling never wait for Spark.
ROUTES: dict[str, dict[str, str]] = {
    name: {"queue": "metering"}
    for name in ("workers.run_pipeline", "workers.close_invoice", "workers.verify_invoice")
}
