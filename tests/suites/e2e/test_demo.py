"""The demonstration as people run it: it ends well, and it can be stopped at any time."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from controlplane.embedded import installation as installations
from controlplane.embedded import supervision
from tests.suites.e2e.conftest import COMMAND

pytestmark = [pytest.mark.stack, pytest.mark.slow]


@pytest.mark.spark
def test_demo_compares_everything_and_stops(folder: Path) -> None:
    shown = subprocess.run(
        [str(COMMAND), "demo", "--exit", "--state", str(folder)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )

    words = shown.stdout.splitlines()[-1].split()
    made = installations.load(folder)
    assert shown.returncode == 0, shown.stdout[-3000:] + shown.stderr[-1000:]
    assert words[0::2] == ["demo:", "comparisons,", "differences"]
    assert int(words[1]) >= 12
    assert words[3] == "0"
    assert made is not None
    assert supervision.list_processes(made) == []


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.drill)]
)
@pytest.mark.parametrize(
    "line",
    [
        "preparing the database",
        "starting portal",
        pytest.param("TWO TENANTS", marks=pytest.mark.drill),
    ],
)
def test_demo_interrupted_stops_everything(folder: Path, number: int, line: str) -> None:
    # As in a terminal: in the background of a script, children inherit that SIGINT is ignored.
    in_a_terminal = ["env", "--default-signal=INT"]
    demo = subprocess.Popen(
        [*in_a_terminal, str(COMMAND), "demo", "--state", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    while line not in (told := demo.stdout.readline()):
        assert told, "the story ended before it was interrupted"

    os.kill(demo.pid, number)
    told, _ = demo.communicate(timeout=90)

    made = installations.load(folder)
    assert demo.returncode == 1
    assert told.splitlines()[-1].startswith("demo: ")
    assert made is not None
    assert supervision.list_processes(made) == []
