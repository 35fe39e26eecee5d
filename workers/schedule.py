"""The beat table: what runs by itself, and how often. Plain data; read by ``controlplane.celery``.

``expires`` keeps a worker that was away from doing the same thing many times at its return.
"""

from typing import Any

from django.conf import settings

TABLE: dict[str, dict[str, Any]] = {
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

# Slow work has a queue, and so a worker, of its own: samples and reconciling never wait for Spark.
ROUTES: dict[str, dict[str, str]] = {
    name: {"queue": "metering"}
    for name in ("workers.run_pipeline", "workers.close_invoice", "workers.verify_invoice")
}
