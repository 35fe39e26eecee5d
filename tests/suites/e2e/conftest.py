"""One running installation for all, and the command as people run it."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from controlplane.embedded import ports, stack
from controlplane.embedded.installation import Installation

Waypost = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = Path(sys.executable).parent / "waypost"


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder for installations, with a short path (sockets); what is in it is ended at last."""
    with tempfile.TemporaryDirectory(prefix="wp-", ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            for found in Path(name).glob("*/installation.json"):
                stack.down(found.parent, purge=True)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where an installation may be made."""
    with short_folder() as parent:
        yield parent / "s"


@pytest.fixture(scope="package")
def running() -> Iterator[Installation]:
    """An installation that is up; tests leave it up, and each module has tenants of its own."""
    # Every test logs in again, and all of them as the same few people.
    settings = dict.fromkeys(["WAYPOST_LOGIN_RATE", "WAYPOST_ACCOUNT_RATE"], "1000/min")
    # Webhooks may go to a receiver of the tests.
    settings["WAYPOST_WEBHOOK_ALLOWED_RANGES"] = "127.0.0.0/8"
    # Nothing here reads what Spark makes of the samples.
    settings["WAYPOST_PIPELINE_SECONDS"] = "3600"
    with short_folder() as parent:
        # Not the usual 8000, which another installation may take while this one is down.
        yield stack.up(parent / "s", web_port=ports.reserve_port(), settings=settings)


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
