"""The cron job's command: what its exit code and its words say."""

import io
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command

from workers.metering import periodic, pipeline


def test_a_busy_pipeline_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(periodic, "compute_usage", _raising(pipeline.PipelineBusy("at it already")))

    call_command("compute_usage", stdout=said)

    assert said.getvalue() == "at it already\n"


def test_a_failure_is_the_job_s_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic, "compute_usage", _raising(pipeline.PipelineFailed("no Java")))

    with pytest.raises(CommandError, match=r"metering\.pipeline_failed: no Java"):
        call_command("compute_usage")


def _raising(error: Exception) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call
