"""One running installation for all, and the command as people run it."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane.embedded import ports, stack
from controlplane.embedded.installation import Installation

Waypost = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = Path(sys.executable).parent / "waypost"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path (sockets) that is stopped and removed at the end."""
    root = Path(tempfile.mkdtemp(prefix="wp-")) / "s"
    yield root
    if (root / "installation.json").exists():
        stack.down(root, purge=True)
    shutil.rmtree(root.parent)


@pytest.fixture(scope="package")
def running() -> Iterator[Installation]:
    """An installation that is up; tests leave it up, and each module has tenants of its own."""
    root = Path(tempfile.mkdtemp(prefix="wp-")) / "s"
    # Every test logs in anew, and all of them as the same few people.
    settings = dict.fromkeys(["WAYPOST_LOGIN_RATE", "WAYPOST_ACCOUNT_RATE"], "1000/min")
    # Nothing here reads what Spark makes of the samples.
    settings["WAYPOST_PIPELINE_SECONDS"] = "3600"
    # Not the usual 8000, which another installation may take while this one is down.
    yield stack.up(root, web_port=ports.reserve_port(), settings=settings)
    stack.down(root, purge=True)
    shutil.rmtree(root.parent)


@pytest.fixture
def waypost() -> Waypost:
    """Run ``waypost`` with arguments and return how it ended."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(COMMAND), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
