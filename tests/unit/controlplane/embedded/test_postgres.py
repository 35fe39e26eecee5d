"""PostgreSQL's own user reaches its programs and its folder wherever the checkout lies."""

import os
import subprocess
from pathlib import Path

import psycopg
import pytest

from controlplane.embedded import postgres


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
def test_service_user_may_run_what_is_in_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "program"
    program.touch(mode=0o755)

    # access(2), as initdb asks before it runs its neighbors
    asked = postgres.as_service_user(["test", "-x", str(program)], closed)
    ended = subprocess.run(asked, cwd="/", check=False)

    assert ended.returncode == 0


def test_the_log_says_which_constraint_was_broken_but_holds_no_rows(tmp_path: Path) -> None:
    with (
        postgres.throwaway(tmp_path) as server,
        psycopg.connect(server.url("postgres")) as database,
    ):
        database.execute("create table people (email text unique)")
        database.execute("insert into people values ('olga@acme.example')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            database.execute("insert into people values ('olga@acme.example')")

    log = (tmp_path / "postgres.log").read_text()
    assert "violates unique constraint" in log
    assert "olga@acme.example" not in log


def test_a_folder_may_be_deeper_than_a_socket_may_lie(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()

    with (
        postgres.throwaway(deep) as server,
        psycopg.connect(server.url("postgres")) as database,
    ):
        assert database.execute("select 1").fetchone() == (1,)
