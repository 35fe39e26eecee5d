"""PostgreSQL's own user reaches its programs and its folder wherever the checkout lies."""

import os
import subprocess
from pathlib import Path

import pytest

from controlplane.embedded import postgres


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
def test_service_user_may_run_what_is_in_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "program"
    program.touch(mode=0o755)

    # access(2), as initdb asks before it runs its neighbours
    asked = postgres.as_service_user(["test", "-x", str(program)], closed)
    ended = subprocess.run(asked, cwd="/", check=False)

    assert ended.returncode == 0
