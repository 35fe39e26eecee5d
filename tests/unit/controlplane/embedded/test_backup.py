"""A backup is whole or not there, and a restore writes nothing unless everything fits."""

import json
import socket
from pathlib import Path

import psycopg
import pytest

from controlplane.core.errors import WaypostError
from controlplane.embedded import backup, ports, postgres
from controlplane.embedded import installation as installations
from controlplane.embedded import restore as restoring
from controlplane.embedded.installation import DATABASE, Installation

KEY = "-----BEGIN PRIVATE KEY-----"
MESSAGE = b"a stored message"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation that is down: a database with one row, one space, an authority."""
    folder = tmp_path_factory.mktemp("waypost")
    folder.parent.chmod(0o755)
    folder.chmod(0o755)
    found = installations.create(folder / "a")
    for name in ("run", "logs", "control-ca", "lakehouse/gold"):
        (found.root / name).mkdir(parents=True)
    (found.root / "control-ca" / "authority.pem").write_text(KEY)
    (found.root / "lakehouse" / "gold" / "part.parquet").write_bytes(b"usage")
    _make_space(found.root / "spaces" / "wp-one")
    data, password = found.root / "postgres" / "data", found.secrets.postgres_password
    postgres.initialize(data, password)
    with postgres.serving(data, password, found.log_dir / "postgres.log") as server:
        _execute(server, "postgres", f'create database "{DATABASE}"')
        _execute(server, DATABASE, "create table tenants as select 'acme' as name")
    return found


def _make_space(namespace: Path) -> None:
    instance = namespace / "broker-0"
    for name in ("etc", "data", "log"):
        (instance / name).mkdir(parents=True)
    (namespace / "namespace.json").write_text("{}")
    (instance / "etc" / "key.pem").write_text(KEY)
    (instance / "data" / "journal").write_bytes(MESSAGE)
    (instance / "log" / "output.log").write_text("hello")
    (instance / "ports.json").write_text(json.dumps({"amqps": ports.reserve_port()}))


def _execute(server: postgres.Server, database: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        done = connection.execute(statement)
        return done.fetchall() if done.description else []


@pytest.fixture
def source(made: Installation, tmp_path: Path) -> Path:
    return backup.make(made.root, tmp_path / "backup")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where to restore; what our own tables need afterwards is tried in tests/suites/e2e."""
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    monkeypatch.setattr(restoring, "_run_after_restore", lambda *_: None)
    return tmp_path / "b"


def refusal(source: Path, root: Path, keys: Path | None = None) -> str:
    with pytest.raises(WaypostError) as refused:
        restoring.restore(source, root, keys=keys)
    return refused.value.error_code


def test_a_restored_installation_holds_what_was_backed_up(
    made: Installation, source: Path, root: Path
) -> None:
    restored = restoring.restore(source, root)

    instance = root / "spaces" / "wp-one" / "broker-0"
    assert (instance / "data" / "journal").read_bytes() == MESSAGE
    assert sorted(path.name for path in instance.iterdir()) == ["data", "ports.json"]
    assert (root / "lakehouse" / "gold" / "part.parquet").read_bytes() == b"usage"
    assert (root / "control-ca" / "authority.pem").read_text() == KEY
    assert (restored.secrets, restored.ports) == (made.secrets, made.ports)
    password = restored.secrets.postgres_password
    data, log = root / "postgres" / "data", root / "postgres" / "log"
    with postgres.serving(data, password, log) as server:
        assert _execute(server, DATABASE, "select name from tenants") == [("acme",)]


def test_a_restored_installation_has_an_id_of_its_own(
    made: Installation, source: Path, root: Path
) -> None:
    assert restoring.restore(source, root).id != made.id


def test_keys_are_found_where_they_were_kept(source: Path, root: Path, tmp_path: Path) -> None:
    keys = (source / backup.KEYS).rename(tmp_path / "elsewhere.json")

    assert refusal(source, root) == "restore.no_keys"
    assert restoring.restore(source, root, keys=keys).root == root


def test_keys_of_another_backup_are_refused(source: Path, root: Path, tmp_path: Path) -> None:
    keys = tmp_path / "other.json"
    keys.write_text("{}")

    assert refusal(source, root, keys) == "restore.damaged"


@pytest.mark.parametrize("name", [backup.DATABASE_DUMP, backup.LAKEHOUSE, backup.SPACES])
def test_a_damaged_backup_leaves_nothing(source: Path, root: Path, name: str) -> None:
    with (source / name).open("r+b") as file:
        file.write(b"damage")

    assert refusal(source, root) == "restore.damaged"
    assert not root.exists()


def test_a_missing_part_leaves_nothing(source: Path, root: Path) -> None:
    (source / backup.SPACES).unlink()

    assert refusal(source, root) == "restore.damaged"
    assert not root.exists()


def test_a_folder_that_is_no_backup_is_refused(root: Path, tmp_path: Path) -> None:
    assert refusal(tmp_path, root) == "restore.not_a_backup"


def test_a_backup_of_a_later_version_is_refused(source: Path, root: Path) -> None:
    path = source / backup.MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": backup.FORMAT + 1}))

    assert refusal(source, root) == "restore.format"


def test_a_folder_that_holds_something_is_left_alone(source: Path, root: Path) -> None:
    root.mkdir()
    (root / "mine").touch()

    assert refusal(source, root) == "restore.occupied"
    assert [path.name for path in root.iterdir()] == ["mine"]


def test_a_backup_is_not_written_over(made: Installation, source: Path) -> None:
    with pytest.raises(WaypostError) as refused:
        backup.make(made.root, source)

    assert refused.value.error_code == "backup.exists"


def test_a_backup_that_fails_leaves_nothing(
    made: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "LAKEHOUSE", "no-such-folder/lakehouse.tar")

    with pytest.raises(OSError, match="no-such-folder"):
        backup.make(made.root, tmp_path / "backup")
    assert list(tmp_path.iterdir()) == []


def test_a_restore_that_fails_leaves_nothing(
    source: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "_run_after_restore", _fail)

    with pytest.raises(KeyboardInterrupt):
        restoring.restore(source, root)
    assert sorted(path.name for path in root.parent.iterdir()) == [".b.lock", "backup"]


def test_an_instance_whose_port_was_taken_may_choose_another(
    made: Installation, source: Path, root: Path
) -> None:
    remembered = made.root / "spaces" / "wp-one" / "broker-0" / "ports.json"
    port = json.loads(remembered.read_text())["amqps"]
    with socket.create_server(("127.0.0.1", port)):
        restoring.restore(source, root)

    assert not (root / "spaces" / "wp-one" / "broker-0" / "ports.json").exists()


def test_every_part_is_for_its_owner_only(source: Path) -> None:
    assert source.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in source.iterdir()} == {0o600}


def _fail(*_: object) -> None:
    raise KeyboardInterrupt
