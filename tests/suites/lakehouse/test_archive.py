"""The job that makes the class-data archive leaves the archive, or nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse.jobs import archive

FAILS_HALF_WAY = """
import sys
from pathlib import Path
from lakehouse import tables
from lakehouse.jobs import archive

def fail(*_arguments):
    raise RuntimeError("the first table broke")

tables.ensure = fail
archive.make(Path(sys.argv[1]))
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.drill
def test_archive_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cds" / "spark.jsa"

    ended = subprocess.run(
        [sys.executable, "-c", FAILS_HALF_WAY, str(path)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert "the first table broke" in ended.stderr
    assert list(path.parent.iterdir()) == []


def test_orphans_of_killed_runs_are_removed_and_those_of_running_ones_are_not(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / "spark.jsa"
    orphan, running, other = (
        path.with_name(f"{path.name}.{suffix}") for suffix in (ended.pid, os.getpid(), "old")
    )
    for file in (path, orphan, running, other):
        file.touch()

    archive.remove_orphans(path)

    assert set(tmp_path.iterdir()) == {path, running, other}
