"""Only Java 17 and 21 are used, and a refusal says what to install."""

from pathlib import Path

import pytest

from controlplane.core.errors import Unavailable
from controlplane.embedded import java


def fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.2"])
def test_find_takes_supported_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    program = fake_java(tmp_path, version)
    monkeypatch.setenv("WAYPOST_JAVA", str(program))

    assert java.find() == program
    assert java.home(program) == tmp_path


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "25"])
def test_find_refuses_other_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("WAYPOST_JAVA", str(fake_java(tmp_path, version)))

    with pytest.raises(Unavailable) as refusal:
        java.find()

    assert refusal.value.error_code == "java.version"
    assert "openjdk-17-jre-headless" in refusal.value.message


def test_find_says_when_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYPOST_JAVA", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_SYSTEM", tmp_path)

    with pytest.raises(Unavailable) as refusal:
        java.find()

    assert refusal.value.error_code == "java.missing"


def test_find_prefers_a_supported_java_over_the_first_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11")
    good = fake_java(tmp_path / "system" / "java-21", "21")
    monkeypatch.delenv("WAYPOST_JAVA", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    monkeypatch.setattr(java, "_SYSTEM", tmp_path / "system")

    assert java.find() == good
