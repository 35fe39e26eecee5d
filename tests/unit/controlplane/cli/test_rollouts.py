"""`waypost rollouts`: what an operator reads, and what is asked of the API."""

import json
from typing import Any

import httpx
import pytest

from controlplane.core.errors import WaypostError
from tests.unit.controlplane.cli.conftest import Run, path_of

ROLLOUT = {
    "state": "Stopped",
    "reason": "1 did not become ready in time",
    "release": {"number": 7, "broker_image": "broker:7", "router_image": ""},
    "former": {"number": 6, "broker_image": "broker:6", "router_image": ""},
    "started_at": "2026-10-01T00:00:00Z",
    "ended_at": None,
    "progress": {"total": 9, "done": 3, "waiting": 5, "changing": 0, "failed": 1},
    "failures": [{"tenant": "acme", "space": "orders", "reason": "broker-0: no image"}],
}


@pytest.fixture
def posted(answers: dict[str, Any]) -> list[tuple[str, Any]]:
    """What was posted; each answers with the rollout."""
    found: list[tuple[str, Any]] = []

    def post(request: httpx.Request) -> Any:
        found.append((path_of(request), json.loads(request.content)))
        return dict(ROLLOUT)

    for verb in ("pause", "resume", "roll-back"):
        answers[f"/staff/rollout/{verb}"] = post
    return found


def test_show_says_where_the_fleet_stands_and_what_failed(
    run: Run, answers: dict[str, Any]
) -> None:
    answers["/staff/rollout"] = dict(ROLLOUT)

    words = run("rollouts", "show").stdout

    assert "3 of 9 run it; 0 changing, 5 waiting, 1 failed" in words
    assert "broker:7" in words
    assert "broker-0: no image" in words
    answers["/staff/rollout"] = dict(ROLLOUT)
    assert json.loads(run("rollouts", "show", "-o", "json").stdout) == ROLLOUT


def test_list_shows_one_line_for_each(run: Run, answers: dict[str, Any]) -> None:
    answers["/staff/rollouts"] = {"items": [dict(ROLLOUT)], "next": None}

    line = run("rollouts", "list").stdout.splitlines()[1]

    assert line.split()[:2] == ["7", "Stopped"]


@pytest.mark.parametrize(
    ("words", "verb"),
    [(["pause"], "pause"), (["resume"], "resume"), (["back", "--yes"], "roll-back")],
)
def test_each_verb_is_asked_with_its_reason(
    run: Run, posted: list[tuple[str, Any]], words: list[str], verb: str
) -> None:
    ended = run("rollouts", *words, "--reason", "freeze")

    assert posted == [(f"/staff/rollout/{verb}", {"reason": "freeze"})]
    assert "Stopped" in ended.stdout


def test_nothing_goes_back_without_a_word(run: Run, posted: list[tuple[str, Any]]) -> None:
    ended = run("rollouts", "back")

    assert ended.exit_code != 0
    assert posted == []


def test_an_operator_needs_no_tenant(
    run: Run, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("WAYPOST_TENANT")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    answers["/staff/rollout"] = dict(ROLLOUT)

    assert run("rollouts", "show").exit_code == 0
    monkeypatch.delenv("WAYPOST_TOKEN")
    refused = run("rollouts", "show").exception
    assert isinstance(refused, WaypostError)
    assert refused.error_code == "login.missing"
