"""Where the lakehouse is told to be: what is refused at the start, and where secrets come from."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from controlplane import settings as source
from controlplane.core import environment
from lakehouse import object_store, session
from tests.support.object_store.servers import ACCESS_KEY, SECRET_KEY

STORE = {
    "WAYPOST_LAKEHOUSE_ENDPOINT": "http://127.0.0.1:1",
    "WAYPOST_LAKEHOUSE_ACCESS_KEY": ACCESS_KEY,
    "WAYPOST_LAKEHOUSE_SECRET_KEY": SECRET_KEY,
}
PIPELINE = [sys.executable, "-m", "lakehouse.jobs.pipeline", "--root", "s3://lake/usage"]


@pytest.mark.parametrize("root", ["s3://lake", "s3://lake/a/b_c", "/var/lib/lakehouse"])
def test_folders_and_prefixes_are_roots(root: str) -> None:
    assert environment.lakehouse(root) == root


def test_a_folder_is_the_same_one_for_a_job_that_runs_elsewhere(tmp_path: Path) -> None:
    """Jobs run in a folder of their own: what they are told must not depend on it."""
    what, state = "s.LAKEHOUSE_ROOT, s.STATE_DIR", {"WAYPOST_STATE_DIR": "state"}
    told = shown(what, tmp_path, {**state, "WAYPOST_LAKEHOUSE_ROOT": "lake"}).stdout
    derived = shown(what, tmp_path, state).stdout

    assert told.split() == [str(tmp_path / "lake"), str(tmp_path / "state")]
    assert derived.split() == [str(tmp_path / "state" / "lakehouse"), str(tmp_path / "state")]


@pytest.mark.parametrize(
    "root", ["s3://", "s3://Lake/a", "s3://lake//a", "s3://lake/a?b", "s3a://lake/a", "gs://lake"]
)
def test_other_addresses_stop_the_start(root: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="s3://bucket/prefix"):
        environment.lakehouse(root)


def started(**variables: str) -> "subprocess.CompletedProcess[str]":
    """Return what reading the settings says in a process of its own."""
    return shown("s.LAKEHOUSE_ACCESS_KEY", source.BASE_DIR, variables)


def shown(
    what: str, folder: Path, variables: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Return the same of a process that runs in ``folder`` and prints ``what``."""
    show = f"from controlplane import settings as s; print({what})"
    return subprocess.run(
        [sys.executable, "-c", show],
        env={"PYTHONPATH": str(source.BASE_DIR), **os.environ, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_store_without_keys_stops_the_start() -> None:
    ran = started(WAYPOST_LAKEHOUSE_ROOT="s3://lake/usage", WAYPOST_LAKEHOUSE_ACCESS_KEY=ACCESS_KEY)

    assert ran.returncode != 0
    assert "WAYPOST_LAKEHOUSE_SECRET_KEY (or the same with _FILE) are needed" in ran.stderr


def test_keys_may_be_in_mounted_files(tmp_path: Path) -> None:
    (tmp_path / "access-key").write_text(f"{ACCESS_KEY}\n")
    files = {"WAYPOST_LAKEHOUSE_ACCESS_KEY_FILE": str(tmp_path / "access-key")}

    assert started(**files).stdout.strip() == ACCESS_KEY


def test_a_file_that_is_not_there_is_named() -> None:
    ran = started(WAYPOST_LAKEHOUSE_ACCESS_KEY_FILE="/nowhere/access-key")

    assert ran.returncode != 0
    assert "WAYPOST_LAKEHOUSE_ACCESS_KEY_FILE" in ran.stderr
    assert "/nowhere/access-key" in ran.stderr


def test_jobs_find_keys_in_mounted_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, secret in (("ACCESS_KEY", ACCESS_KEY), ("SECRET_KEY", SECRET_KEY)):
        (tmp_path / name).write_text(f"{secret}\n")
        monkeypatch.setenv(f"WAYPOST_LAKEHOUSE_{name}_FILE", str(tmp_path / name))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")

    object_store.give_keys("s3://lake/usage")

    assert os.environ["AWS_ACCESS_KEY_ID"] == ACCESS_KEY
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == SECRET_KEY


def test_sparks_settings_name_the_store_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in STORE.items():
        monkeypatch.setenv(name, value)

    found = object_store.settings("s3://lake/usage")

    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:1"
    assert SECRET_KEY not in str(found)
    assert ACCESS_KEY not in str(found)
    assert object_store.settings("/var/lib/lakehouse") == {}


def test_a_job_says_the_stores_own_words_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(object_store.StoreAway), object_store.translated_errors("s3://lake/usage"):
        raise RuntimeError("SdkClientException: (Status Code: 501, NotImplemented)")

    assert "501, NotImplemented" in capsys.readouterr().err


def pipeline_says(**variables: str) -> dict[str, str]:
    """Return the error of the job over a root in a store."""
    ran = subprocess.run(
        PIPELINE, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2, ran.stderr
    error: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])["error"]
    return error


def test_a_job_without_the_stores_jars_says_how_to_get_them(tmp_path: Path) -> None:
    for jar in session.jars():
        (tmp_path / jar.name).symlink_to(jar)

    error = pipeline_says(**STORE, WAYPOST_JARS_DIR=str(tmp_path))

    assert error["code"] == "lakehouse.jars_missing"
    assert "make setup S3=1" in error["message"]


def test_a_job_without_keys_says_so() -> None:
    error = pipeline_says(**{**STORE, "WAYPOST_LAKEHOUSE_SECRET_KEY": ""})

    assert error["code"] == "lakehouse.keys_missing"
