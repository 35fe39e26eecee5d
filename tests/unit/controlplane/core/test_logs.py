"""WAYPOST_LOG_LEVEL: what is below it is not written, by servers as by Celery's programs."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.source_tree import ROOT

_SERVER = "import controlplane.settings"
# As `celery worker` and `celery beat` do at their start.
_CELERY = """
from controlplane.celery import app
app.log.setup("{level}", redirect_stdouts=app.conf.worker_redirect_stdouts)
"""
_TELL = """
import structlog
for level in ("debug", "info", "warning", "error", "critical"):
    getattr(structlog.get_logger(), level)("told")
"""


def written(program: str, environment: dict[str, str]) -> list[str]:
    """Return the levels of the events that a process with this beginning writes, line by line."""
    ran = subprocess.run(
        [sys.executable, "-c", program + _TELL],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line)["level"] for line in ran.stdout.splitlines()]


def test_events_of_info_and_above_are_written_by_default() -> None:
    assert written(_SERVER, {}) == ["info", "warning", "error", "critical"]


@pytest.mark.parametrize("program", [_SERVER, _CELERY.format(level="ERROR")])
def test_events_below_the_level_are_not_written(program: str) -> None:
    found = written(program, {"WAYPOST_LOG_LEVEL": "ERROR"})

    assert found == ["error", "critical"]
