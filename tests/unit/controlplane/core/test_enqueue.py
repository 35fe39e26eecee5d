"""Tasks are enqueued through the configured broker, from any thread, and never delay a request."""

import time
from concurrent.futures import ThreadPoolExecutor

import celery
import pytest
from django.conf import settings

from controlplane.core import enqueue
from controlplane.embedded import ports


def test_every_thread_enqueues_through_the_configured_broker() -> None:
    with ThreadPoolExecutor(1) as elsewhere:
        url = elsewhere.submit(lambda: celery.current_app.conf.broker_url).result()

    assert url == settings.REDIS_URL


def test_enqueuing_gives_up_soon_when_the_broker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    away = f"redis://127.0.0.1:{ports.free_port()}/0"
    monkeypatch.setattr(celery.current_app.conf, "broker_url", away)
    monkeypatch.setattr(celery.current_app, "_pool", None)
    began = time.monotonic()

    enqueue._send("workers.nothing", {}, "req_1")

    assert time.monotonic() - began < 3
