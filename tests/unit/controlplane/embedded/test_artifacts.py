"""Fetched files are what was pinned, and appear whole or not at all."""

import hashlib
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from controlplane.core.errors import Unavailable
from controlplane.embedded import artifacts, java
from controlplane.embedded.artifacts import Artifact


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder that stands for what Ivy retrieves: one JAR and one archive."""
    folder = tmp_path / "source"
    (folder / "server-1.0" / "bin").mkdir(parents=True)
    (folder / "server-1.0" / "bin" / "run").write_text("go")
    (folder / "one-1.0.jar").write_bytes(b"jar")
    with tarfile.open(folder / "server-1.0.tar.gz", "w:gz") as archive:
        archive.add(folder / "server-1.0", "server-1.0")
    return folder


@pytest.fixture
def pinned(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Artifacts of that folder, and an Ivy that copies from it."""

    def digest(name: str) -> str:
        return hashlib.sha256((source / name).read_bytes()).hexdigest()

    monkeypatch.setattr(
        artifacts,
        "ARTIFACTS",
        (
            Artifact("jar", "one-1.0.jar", digest("one-1.0.jar"), "jars/one-1.0.jar"),
            Artifact(
                "server", "server-1.0.tar.gz", digest("server-1.0.tar.gz"), "server/server-1.0"
            ),
        ),
    )

    def retrieve(_configurations: Any, folder: Path) -> None:
        for name in ("one-1.0.jar", "server-1.0.tar.gz"):
            (folder / name).write_bytes((source / name).read_bytes())

    monkeypatch.setattr(artifacts, "_retrieve", retrieve)


@pytest.mark.usefixtures("pinned")
def test_ensure_fetches_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    first = artifacts.ensure(["jar", "server"], cache)
    again = artifacts.ensure(["jar", "server"], cache)

    assert first == ["jars/one-1.0.jar", "server/server-1.0"]
    assert again == []
    assert (cache / "server/server-1.0/bin/run").read_text() == "go"
    assert [path.name for path in cache.iterdir() if path.name.startswith("fetch-")] == []


@pytest.mark.usefixtures("pinned")
def test_ensure_refuses_other_bytes_and_keeps_nothing(tmp_path: Path, source: Path) -> None:
    (source / "one-1.0.jar").write_bytes(b"something else")

    with pytest.raises(Unavailable) as refusal:
        artifacts.ensure(["jar"], tmp_path / "cache")

    assert refusal.value.error_code == "artifact.checksum"
    assert list((tmp_path / "cache").rglob("*.jar")) == []


def test_ensure_says_when_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any, **_options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, stdout="\n::  UNRESOLVED DEPENDENCIES ::\n")

    monkeypatch.setattr(subprocess, "run", fail)
    monkeypatch.setattr(java, "find", lambda: Path("java"))

    with pytest.raises(Unavailable) as refusal:
        artifacts.ensure(["artemis"], tmp_path)

    assert refusal.value.error_code == "artifact.fetch"
    assert "UNRESOLVED" in refusal.value.message


def test_artemis_home_asks_for_setup(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as refusal:
        artifacts.artemis_home(tmp_path)

    assert "make setup" in refusal.value.message


def test_coordinates_name_no_host() -> None:
    coordinates = (Path(artifacts.__file__).parent / "ivy" / "artifacts.xml").read_text()

    assert coordinates.count("://") == 1  # the namespace of Ivy's own vocabulary


@pytest.mark.parametrize(
    ("raised", "code"), [(OSError(28, "No space left"), 1), (KeyboardInterrupt(), 130)]
)
def test_main_ends_in_words_when_the_cache_cannot_be_filled(
    raised: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(artifacts, "ensure", fail)
    monkeypatch.setattr("sys.argv", ["artifacts"])

    assert artifacts.main() == code
