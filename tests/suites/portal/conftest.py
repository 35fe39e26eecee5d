"""Fixtures of the portal's tests: the cast on a fresh database, and a client for each of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from controlplane.core import enqueue
from tenants.models import User
from tests.support.portal import rows
from tests.support.portal.rows import World

As = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _portal_settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An existing static folder, a cache without a server, no broker to enqueue to."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "page"}
    }
    cache.clear()
    settings.STATIC_ROOT = tmp_path
    monkeypatch.setattr(enqueue, "_send", lambda *task: None)


@pytest.fixture
def world(db: None) -> World:
    """The cast on the Team plan."""
    return rows.world()


@pytest.fixture
def as_() -> As:
    """Return a client that is logged in as a person, or as nobody."""

    def client(user: User | None) -> Client:
        made = Client(raise_request_exception=True)
        if user is not None:
            made.force_login(user)
        return made

    return client
