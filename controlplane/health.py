"""What operators' tools ask: alive, ready, and the gauges.

``/healthz`` says that the process answers and touches nothing else. ``/readyz`` is 503 without the
database; without the queue it stays 200 and says ``degraded``, because then work is only found
later. ``/metrics`` is read from the database at each scrape, so every web process tells the same.
"""

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from controlplane import gauges

SCRAPE_TIMEOUT_MS = 5000
logger = structlog.get_logger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process serves requests."""
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when requests can be served, 503 when not, and say what is away."""
    database, queue = _database_answers(), _queue_answers()
    status = "ready" if database and queue else "degraded" if database else "not ready"
    parts = {"database": "ok" if database else "away", "queue": "ok" if queue else "away"}
    return JsonResponse({"status": status, **parts}, status=200 if database else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer the Prometheus text format; 401 without the token where one is set."""
    if not _may_scrape(request):
        return HttpResponse(
            "send the metrics token as a bearer token\n",
            status=401,
            content_type="text/plain",
            headers={"WWW-Authenticate": "Bearer"},
        )
    registry = CollectorRegistry()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # A scrape must never become the load it is meant to show.
            cursor.execute(f"SET LOCAL statement_timeout = {SCRAPE_TIMEOUT_MS}")
            registry.register(gauges.DatabaseCollector())
            return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    except DatabaseError:
        logger.exception("metrics could not be read")
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")


def _may_scrape(request: HttpRequest) -> bool:
    if not settings.METRICS_TOKEN:
        return True
    sent = request.headers.get("Authorization", "")
    return constant_time_compare(sent, f"Bearer {settings.METRICS_TOKEN}")


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _queue_answers() -> bool:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()
