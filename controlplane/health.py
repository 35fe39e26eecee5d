"""The web server's endpoints for operators' tools: liveness, readiness and metrics.

* ``/healthz`` answers 200 while the process serves requests. It asks neither database nor queue.
* ``/readyz`` answers 503 if the database does not answer. If only the queue (Redis) does not, it
  answers 200 and ``degraded``: requests still succeed, and the workers find their work later.
* ``/metrics`` reads the database at each scrape, so every web process reports the same values. The
  metrics of requests are those of all processes of this server.
"""

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from controlplane import gauges
from controlplane.core import reachability, request_metrics

SCRAPE_TIMEOUT_MS = 5000
logger = structlog.get_logger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 always, without asking the database or the queue: the process serves requests."""
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database answers, else 503.

    The JSON body has ``status`` (``ready``, ``degraded`` or ``not ready``), and for ``database``
    and ``queue`` each ``ok`` or ``away``. An absent queue alone is ``degraded`` with 200.
    """
    database = reachability.database_answers()
    queue = reachability.queue_answers(settings.REDIS_URL)
    status = "ready" if database and queue else "degraded" if database else "not ready"
    parts = {"database": "ok" if database else "away", "queue": "ok" if queue else "away"}
    return JsonResponse({"status": status, **parts}, status=200 if database else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the gauges of ``controlplane.gauges`` and the metrics of requests.

    401: the request does not carry ``METRICS_TOKEN`` as a bearer token. 403: no token is set, so
    nobody may read the metrics.
    503: the database does not answer, or a query takes longer than ``SCRAPE_TIMEOUT_MS``.
    """
    sent = request.headers.get("Authorization", "")
    wanted = settings.METRICS_TOKEN
    if not wanted:
        return HttpResponse(
            "set WAYPOST_METRICS_TOKEN to open the metrics\n", status=403, content_type="text/plain"
        )
    if not constant_time_compare(sent, f"Bearer {wanted}"):
        return HttpResponse(
            "send the metrics token as a bearer token\n",
            status=401,
            content_type="text/plain",
            headers={"WWW-Authenticate": "Bearer"},
        )
    registry = CollectorRegistry()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # PostgreSQL cancels a longer query, so that scrapes add little load to a busy database.
            cursor.execute(f"SET LOCAL statement_timeout = {SCRAPE_TIMEOUT_MS}")
            registry.register(gauges.DatabaseCollector())
            request_metrics.add_to(registry)
            return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    except DatabaseError:
        logger.exception("metrics could not be read")
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")
