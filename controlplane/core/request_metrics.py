"""Metrics of HTTP requests: how many, how many failed, and how long they took, by route.

A route is a pattern of the URL map, never a path, so the number of series is bounded. The processes
of the web server share the values by files (``PROMETHEUS_MULTIPROC_DIR``, which
``controlplane.web`` sets), so a scrape of any process shows the sum of all.
"""

import os
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, multiprocess

from controlplane.core.event_streams import RECHECK

# Seconds. Few buckets: each is a series of each route.
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Its own registry: without the shared files, /metrics adds it as it is.
REGISTRY = CollectorRegistry()
_REQUESTS = Counter(
    "waypost_http_requests",
    "Requests by route, method and class of the status",
    ["route", "method", "status"],
    registry=REGISTRY,
)
_SECONDS = Histogram(
    "waypost_http_request_seconds",
    "Time in Django by route",
    ["route"],
    buckets=_BUCKETS,
    registry=REGISTRY,
)


class RequestMetricsMiddleware:
    """Counts and times each request, except the web server's own checks of open event streams."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        if RECHECK not in request.META:
            route = route_of(request)
            # A client may invent methods, and each would be a series.
            method = request.method if request.method in _METHODS else "other"
            _REQUESTS.labels(route, method, f"{response.status_code // 100}xx").inc()
            _SECONDS.labels(route).observe(time.perf_counter() - began)
        return response


def route_of(request: HttpRequest) -> str:
    """Return the pattern that matched the path of ``request``, or ``none``."""
    match = request.resolver_match
    # The API has a pattern that matches all other paths, to answer them with problem+json.
    return "none" if match is None or match.route.endswith(".*$") else match.route


def add_to(registry: CollectorRegistry) -> None:
    """Make ``registry`` also collect the metrics of requests, of all processes of this server."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REGISTRY)
