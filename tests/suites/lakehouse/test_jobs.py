"""The jobs as processes: killed by SIGKILL between and inside tables, and errors in words."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering import gold
from workers.metering.pipeline import Table

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOB = [sys.executable, "-m", "lakehouse.jobs.pipeline", "--root"]


@contextmanager
def job(root: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The pipeline job in a process group of its own; killed with its Java at the end."""
    process = subprocess.Popen(
        [*JOB, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, **environment},
    )  # fmt: skip
    try:
        yield process
    finally:
        kill(process)
        process.communicate()


def kill(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def finish(root: Path) -> dict[str, Any]:
    with job(root) as process:
        out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err[-2000:]
    report: dict[str, Any] = json.loads(out.splitlines()[-1])
    return report


@pytest.mark.drill
def test_job_killed_between_and_inside_tables_ends_right(tmp_path: Path) -> None:
    landed = Landed(tmp_path)
    for seq, killed_after in enumerate(("done bronze.quarantine", "done gold.usage"), start=1):
        landed(row(at(10, seq), seq, messages_in=10 * seq), beat(at(10, seq), seq))
        with job(tmp_path) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith(killed_after):
                    kill(process)  # while the next table is being written
                    break
            assert process.wait() == -signal.SIGKILL
    landed(row(at(10, 16), 3, messages_in=25), beat(at(10, 16), 3))

    report = finish(tmp_path)

    pin = report["tables"]["gold.usage"]
    cells = gold.cells(tmp_path, Table(pin["id"], pin["version"]), "ten_a", at(10), at(11))
    found = sorted((cell.bucket_at, cell.quantity) for cell in cells)
    assert found == [(at(10), 20), (at(10, 15), 5)]
    assert report["as_of"] == at(10, 16).isoformat()


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"WAYPOST_JARS_DIR": "/nowhere"}, "lakehouse.jars_missing"),
        ({"PATH": "/nowhere", "JAVA_HOME": ""}, "lakehouse.java_missing"),
    ],
)
def test_job_says_what_is_missing(tmp_path: Path, environment: dict[str, str], code: str) -> None:
    with job(tmp_path, **environment) as process:
        out, err = process.communicate(timeout=60)

    answer = json.loads(out.splitlines()[-1])["error"]
    assert process.returncode == 2
    assert answer["code"] == code
    assert "make setup" in answer["message"]
    assert "Traceback" not in err
