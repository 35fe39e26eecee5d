"""One portal with rows for every page, and one browser, for all tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from controlplane.core import enqueue
from tests.support import web_server
from tests.support.browser import chromium, scene
from tests.support.browser.chromium import Chromium
from tests.support.browser.scene import Scene
from tests.support.portal.rows import PASSWORD
from tests.support.web_server import WebServer


@pytest.fixture(scope="session")
def pictures() -> Path:
    """The folder for pictures of the pages."""
    return chromium.picture_folder()


@pytest.fixture(scope="module")
def shown(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Scene]:
    """The rows, committed, so that a web server sees them; deleted after the module."""
    # The hasher of the web server, not the quick one of the other tests: people log in.
    hashed = override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.Argon2PasswordHasher"]
    )
    with django_db_blocker.unblock(), hashed, pytest.MonkeyPatch.context() as patched:
        # No queue runs here, and the search for one takes seconds.
        patched.setattr(enqueue, "_send", lambda task, ids, request_id: None)
        try:
            yield scene.make()
        finally:
            call_command("flush", verbosity=0, interactive=False)


@pytest.fixture(scope="module")
def portal(shown: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """The web server that serves the rows, with a cache."""
    folder = tmp_path_factory.mktemp("portal")
    with (
        web_server.queue(folder) as port,
        web_server.running(folder, threads=4, queue_port=port) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def browser(portal: WebServer) -> Iterator[Chromium]:
    """Chromium, which visits the portal."""
    if chromium.installed() is None:
        pytest.skip("this system has no package of Chromium")
    with chromium.started(portal.url, PASSWORD) as started:
        yield started
