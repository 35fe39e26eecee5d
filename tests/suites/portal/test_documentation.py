"""The docs site at /docs: served to everyone, its own files only, and what it says if not built."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils.http import http_date
from pytest_django import Settings

from controlplane.console import help_pages
from tests.suites.portal.conftest import As
from tests.support.portal.rows import World


@pytest.fixture
def site(settings: Settings, tmp_path: Path) -> Path:
    """A built site with one page, one style sheet, and a secret beside its folder."""
    settings.DOCS_ROOT = tmp_path / "site"
    (settings.DOCS_ROOT / "develop").mkdir(parents=True)
    (settings.DOCS_ROOT / "index.html").write_text("<html>start</html>")
    (settings.DOCS_ROOT / "develop/errors.html").write_text("<html>errors</html>")
    (settings.DOCS_ROOT / "style.css").write_text("body {}")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "site"


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/docs/", b"<html>start</html>", "text/html"),
        ("/docs/develop/errors.html", b"<html>errors</html>", "text/html"),
        ("/docs/style.css", b"body {}", "text/css"),
    ],
)
def test_anybody_reads_the_site(
    site: Path, client: Client, path: str, body: bytes, kind: str
) -> None:
    answer = client.get(path)

    assert (answer.status_code, b"".join(answer)) == (200, body)
    assert answer["Content-Type"] == kind
    assert answer["Cache-Control"] == "no-cache"
    assert "script-src 'self';" in answer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_the_path_without_a_slash_leads_there(site: Path, client: Client) -> None:
    assert client.get("/docs").headers["Location"] == "/docs/"


def test_an_unchanged_page_is_not_sent_again(site: Path, client: Client) -> None:
    changed = http_date((site / "index.html").stat().st_mtime)

    answer = client.get("/docs/", headers={"if-modified-since": changed})

    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["../secret.txt", "develop/../../secret.txt", "%2e%2e/secret.txt", "develop", "no.html"]
)
@pytest.mark.django_db
def test_nothing_but_files_of_the_site_is_served(site: Path, client: Client, path: str) -> None:
    answer = client.get(f"/docs/{path}")

    assert answer.status_code == 404
    assert b"secret" not in answer.content.replace(b"secret.txt", b"")


def test_the_site_is_only_read(site: Path, client: Client) -> None:
    assert client.post("/docs/").status_code == 405


@pytest.mark.django_db
def test_a_site_that_is_not_built_says_how(
    settings: Settings, tmp_path: Path, client: Client
) -> None:
    settings.DOCS_ROOT = tmp_path / "none"

    answer = client.get("/docs/develop/errors.html")

    assert answer.status_code == 404
    assert "make docs" in answer.content.decode()
    assert "docs.not_built" in answer.content.decode()


def test_pages_before_the_login_link_to_the_documentation(world: World, as_: As) -> None:
    shown = {name: as_(None).get(f"/{name}").content.decode() for name in ("login", "signup")}

    linked = [name for name in shown if f'href="{help_pages.BY_ROUTE[name].url}"' in shown[name]]
    assert linked == ["login", "signup"]
