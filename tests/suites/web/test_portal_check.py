"""The check that ``helm test`` runs, against the portal's own server."""

import io
import sys

import pytest

from controlplane.cli import portal_check
from controlplane.core.audit import SYSTEM
from plans.catalog import publishing
from tests.support.web_server import WebServer


def test_it_names_what_is_wrong_and_nothing_else(
    web: WebServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (queue, plans) = portal_check.check(web.url)
    assert queue.startswith("/readyz: the database or the queue is away")
    assert "degraded" in queue
    assert plans.startswith("/api/v1/plans: the API offers no plans")

    publishing.ensure_default(by=SYSTEM)
    assert portal_check.check(web.url) == [queue]

    # No queue runs here.
    others = [asked for asked in portal_check._QUESTIONS if asked[0] != "/readyz"]
    monkeypatch.setattr(portal_check, "_QUESTIONS", others)
    monkeypatch.setattr(sys, "argv", ["portal_check", f"{web.url}/"])
    portal_check.main()
    assert "serves pages and the API" in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["[]", "no JSON", '{"status": null}'])
def test_an_answer_of_another_program_is_a_wrong_answer(
    monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.BytesIO(answer.encode()))

    assert portal_check.check("http://127.0.0.1:1")[0].startswith("/readyz: the database")


def test_a_portal_that_does_not_answer_fails_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["portal_check", "http://127.0.0.1:1"])

    with pytest.raises(SystemExit, match="/healthz: the web server does not serve") as ended:
        portal_check.main()

    assert ended.value.code != 0
