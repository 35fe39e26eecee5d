"""`waypost backup` and `restore`: what they pass on, and what they answer."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from controlplane.cli.app import app
from controlplane.core.errors import WaypostError
from controlplane.embedded import backup, restore


def code(*arguments: str | Path) -> str:
    ended = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(ended.exception, WaypostError), ended.output
    return ended.exception.error_code


def test_backup_of_nothing_is_refused(tmp_path: Path) -> None:
    assert code("backup", tmp_path / "b", "--state", tmp_path / "none") == "stack.nothing_here"
    assert not (tmp_path / "b").exists()


def test_restore_of_nothing_is_refused(tmp_path: Path) -> None:
    assert code("restore", tmp_path / "b", "--state", tmp_path / "s") == "restore.not_a_backup"
    assert not (tmp_path / "s").exists()


def test_backup_names_the_file_of_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "make", lambda _root, target, **_: target)
    asked = ["backup", str(tmp_path / "b"), "--state", str(tmp_path), "-o", "json"]

    ended = CliRunner().invoke(app, asked)

    folder = str(tmp_path / "b")
    assert json.loads(ended.stdout) == {"backup": folder, "keys": f"{folder}/keys.json"}


def test_restore_takes_keys_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Path] = []
    monkeypatch.setattr(restore, "restore", lambda _source, _root, keys, **_: given.append(keys))
    keys, state = str(tmp_path / "keys.json"), str(tmp_path / "s")

    ended = CliRunner().invoke(app, ["restore", str(tmp_path), "--keys", keys, "--state", state])

    assert given == [Path(keys)]
    assert f"waypost up --state {state}" in ended.stdout
