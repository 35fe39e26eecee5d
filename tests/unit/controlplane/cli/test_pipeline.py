"""`waypost pipeline`: what an operator reads of the pipeline, and what is asked of the API."""

import json
from typing import Any

import httpx
import pytest

from tests.unit.controlplane.cli.conftest import Run

RUN = {
    "job": "pipeline",
    "started_at": "2026-11-21T10:00:00Z",
    "seconds": 21.5,
    "cpu_seconds": 30.25,
    "samples": 120,
    "quarantined": 1,
    "new_files": 2,
    "as_of": "2026-11-21T09:59:00Z",
    "files": {},
    "error_code": "",
}
PIPELINE = {
    "as_of": "2026-11-21T09:59:00Z",
    "lag_seconds": 61,
    "waiting": {
        "batches": 3,
        "samples": 77,
        "batches_without_file": 1,
        "oldest_at": "2026-11-21T09:58:00Z",
    },
    "newest": {**RUN, "error_code": "metering.pipeline_failed"},
    "succeeded": RUN,
    "housekeeping": None,
    "quarantined_in_24_hours": 4,
}


def test_show_says_how_far_usage_is_and_what_waits(run: Run, answers: dict[str, Any]) -> None:
    answers["/staff/pipeline"] = dict(PIPELINE)

    words = run("pipeline", "show").stdout

    for found in ("61", "77", "metering.pipeline_failed", "2026-11-21"):
        assert found in words
    answers["/staff/pipeline"] = dict(PIPELINE)
    assert json.loads(run("pipeline", "show", "-o", "json").stdout) == PIPELINE


def test_show_of_an_installation_without_runs(run: Run, answers: dict[str, Any]) -> None:
    nothing = dict.fromkeys(("as_of", "lag_seconds", "newest", "succeeded"))
    answers["/staff/pipeline"] = {**PIPELINE, **nothing}

    assert run("pipeline", "show").exit_code == 0


@pytest.mark.parametrize(
    ("words", "path", "query"),
    [
        (("runs", "--job", "housekeeping"), "/staff/pipeline/runs", {"job": "housekeeping"}),
        (("quarantine", "--reason", "fall"), "/staff/pipeline/quarantine", {"reason": "fall"}),
    ],
)
def test_lists_ask_for_what_is_wanted(
    run: Run, answers: dict[str, Any], words: tuple[str, ...], path: str, query: dict[str, str]
) -> None:
    asked: list[dict[str, str]] = []

    def answer(request: httpx.Request) -> Any:
        asked.append(dict(request.url.params))
        return {"items": [], "next": None}

    answers[path] = answer

    assert run("pipeline", *words).exit_code == 0
    assert query.items() <= asked[0].items()


def test_runs_are_lines_with_their_cost(run: Run, answers: dict[str, Any]) -> None:
    answers["/staff/pipeline/runs"] = {"items": [dict(RUN)], "next": None}

    line = run("pipeline", "runs").stdout.splitlines()[1]

    assert "pipeline" in line
    assert "30.25" in line
