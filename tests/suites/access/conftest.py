"""The furnished tenant of the access matrix."""

from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import Settings

from controlplane.core import enqueue
from tests.support.access import furnished
from tests.support.access.furnished import Furnished


@pytest.fixture
def tenant(
    db: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Furnished:
    """The furnished tenant, with a cache without a server and limits that nobody reaches."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "all"}
    }
    cache.clear()
    for name in [name for name in dir(settings) if name.endswith("_RATE")]:
        setattr(settings, name, "1000000/min")
    settings.PAYMENT_PROVIDER = "webhook"
    settings.PAYMENT_WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    settings.PAYMENT_PAGE = "https://pay.example/{number}"
    # The matrix may take longer than the five minutes after which pages ask for the password again.
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 24 * 3600
    settings.ACCOUNT_RATE_LIMITS = settings.MFA_RATE_LIMITS = False
    settings.STATIC_ROOT = settings.DOCS_ROOT = tmp_path
    (tmp_path / "index.html").write_text("docs")
    monkeypatch.setattr(enqueue, "_send", lambda *task: None)
    return furnished.furnish()
