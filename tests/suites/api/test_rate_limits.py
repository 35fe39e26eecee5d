"""Rate limits of callers and tenants, request ids, and what no cache may keep."""

import json
import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from django.core.cache import cache
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from rest_framework.test import APIClient

from controlplane import celery as waypost_celery
from controlplane.core import enqueue, event_streams
from tenants import queries
from tests.suites.api.conftest import Cast, problem

SPACE = {"name": "two", "type": "brokered", "plan": "brokered-small"}


@pytest.fixture
def few(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Three requests a minute, of which 45 s are left."""
    cache.clear()
    monkeypatch.setattr(time, "time", lambda: 1_200_000_015.5)
    settings.API_CALLER_RATE = "3/min"
    return settings


def test_caller_is_limited_with_standard_headers(cast: Cast, few: Settings) -> None:
    owner, other = cast.call("token"), cast.call("viewer")

    answers = [owner.get(cast.path()) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {(a["RateLimit-Limit"], a["RateLimit-Reset"]) for a in answers} == {("3", "45")}
    refused = problem(answers[-1], 429, "rate_limited")
    assert (answers[-1]["Retry-After"], refused["retry_after_seconds"]) == ("45", 45)
    assert other.get(cast.path()).status_code == 200


def test_callers_of_a_tenant_share_a_limit(cast: Cast, few: Settings) -> None:
    few.API_TENANT_RATE = "2/min"

    answers = [cast.call(who).get(cast.path()) for who in ("owner", "viewer", "admin")]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[1]["RateLimit-Remaining"] == "0"
    theirs = cast.call("outsider").get("/api/v1/tenants/other")
    assert theirs.status_code == 200


def test_strangers_do_not_use_up_the_limit_of_a_tenant(cast: Cast, few: Settings) -> None:
    few.API_TENANT_RATE = "1/min"

    problem(cast.call("outsider").get(cast.path()), 404, "missing")

    assert cast.call("owner").get(cast.path()).status_code == 200


def test_anonymous_callers_are_limited_by_address(client: Client, few: Settings, db: None) -> None:
    answers = [client.get("/api/v1/plans").status_code for _ in range(4)]

    assert answers == [200, 200, 200, 429]
    assert client.get("/api/v1/plans", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_checks_of_open_streams_are_not_counted(cast: Cast, few: Settings) -> None:
    owner = cast.call("owner")

    recheck: Any = {event_streams.RECHECK: True}
    again = [owner.get(cast.path(), **recheck) for _ in range(5)]

    assert {answer.status_code for answer in again} == {200}


@pytest.mark.parametrize("sent", ["abc-123_X.y", "a" * 64])
def test_request_id_of_the_client_comes_back(client: Client, db: None, sent: str) -> None:
    assert client.get("/api/v1/problems", headers={"X-Request-ID": sent})["X-Request-ID"] == sent


@pytest.mark.parametrize("sent", ["", "a" * 65, 'x"} {"event": "forged', "a b"])
def test_other_request_ids_are_replaced(client: Client, db: None, sent: str) -> None:
    answer = client.get("/login", headers={"X-Request-ID": sent})

    assert re.fullmatch(r"req_[0-9a-z]{20}", answer["X-Request-ID"])


def test_log_lines_of_a_request_carry_its_id(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(queries, "list_spaces", lambda tenant: 1 / 0)

    cast.call("owner").get(cast.path("/address-spaces"), headers={"X-Request-ID": "mine-1"})

    assert json.loads(capsys.readouterr().out.splitlines()[-1])["request_id"] == "mine-1"


def test_tasks_of_a_request_carry_its_id_into_the_worker(
    cast: Cast,
    owner: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[dict[str, Any]] = []
    queue = SimpleNamespace(send_task=lambda *_, **more: sent.append(more))
    monkeypatch.setattr(enqueue, "current_app", queue)

    with django_capture_on_commit_callbacks(execute=True):
        owner.post(cast.path("/address-spaces"), SPACE, headers={"X-Request-ID": "mine-2"})

    assert sent
    assert {task["headers"]["request_id"] for task in sent} == {"mine-2"}

    received = SimpleNamespace(id="uuid", request_id="mine-2")
    waypost_celery.bind_request_id(task=SimpleNamespace(name="workers.x", request=received))
    try:
        assert structlog.contextvars.get_contextvars()["request_id"] == "mine-2"
    finally:
        waypost_celery.unbind_request_id()
    assert "request_id" not in structlog.contextvars.get_contextvars()


def test_only_what_is_public_may_be_stored(cast: Cast, owner: APIClient) -> None:
    token = owner.post(cast.path("/tokens"), {"name": "ci", "role": "viewer"})
    refused = owner.get(cast.path("/address-spaces/none"))
    session = owner.get("/api/v1/me")

    assert {a["Cache-Control"] for a in (token, refused, session)} == {"no-store"}
    assert not owner.get("/api/v1/plans").has_header("Cache-Control")
