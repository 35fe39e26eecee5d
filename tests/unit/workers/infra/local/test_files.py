"""Files, folders and ports of local instances."""

import socket
import stat
from pathlib import Path

import pytest

from controlplane.embedded import ports
from workers.infra.local import files
from workers.infra.local.files import InstanceFiles


@pytest.fixture
def instance(tmp_path: Path) -> InstanceFiles:
    made = InstanceFiles(tmp_path / "spaces" / "wp-x" / "broker-0")
    made.make()
    return made


def test_write_makes_the_folder_hold_exactly_the_files(instance: InstanceFiles) -> None:
    instance.write({"a": "1", "sub/b": "2"})
    instance.write({"a": "3"})

    assert (instance.config / "a").read_text() == "3"
    assert [path.name for path in instance.config.rglob("*") if path.is_file()] == ["a"]


def test_files_are_private(instance: InstanceFiles) -> None:
    instance.write({"users.properties": "secret"})

    assert stat.S_IMODE((instance.config / "users.properties").stat().st_mode) == 0o600
    assert stat.S_IMODE(instance.config.stat().st_mode) == 0o700


def test_an_unchanged_file_is_not_touched(instance: InstanceFiles) -> None:
    instance.write({"a": "1"})
    before = (instance.config / "a").stat().st_ino

    instance.write({"a": "1"})

    assert (instance.config / "a").stat().st_ino == before


def test_a_changed_file_is_newer_than_any_reload_until_now(instance: InstanceFiles) -> None:
    instance.write({"a": "1"})

    assert (instance.config / "a").stat().st_mtime > instance.folder.stat().st_ctime + 1


def test_a_file_cannot_leave_its_folder(instance: InstanceFiles) -> None:
    with pytest.raises(ValueError, match="leaves"):
        instance.write({"../../escape": "x"})


def test_only_cold_files_are_in_the_digest() -> None:
    cold, live = {"cold": "1", "live": "1"}, frozenset({"live"})

    assert files.digest(cold, live) == files.digest({**cold, "live": "2"}, live)
    assert files.digest(cold, live) != files.digest({**cold, "cold": "2"}, live)


def test_ports_are_remembered_and_never_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaces = tmp_path / "spaces"
    # As many ports as are wanted: whoever does not look at what is taken meets it.
    with ports.claiming() as claims:
        monkeypatch.setattr(files, "_PORTS", [claims.take_any() for _ in range(4)])
        named = ("amqps", "management")
        first = files.remembered_ports(spaces, spaces / "wp-a" / "broker-0", named)
        second = files.remembered_ports(spaces, spaces / "wp-b" / "broker-0", named)

    again = files.remembered_ports(spaces, spaces / "wp-a" / "broker-0", ("amqps", "management"))
    assert again == first
    assert len({*first.values(), *second.values()}) == 4


def test_a_port_in_use_is_not_chosen_and_is_seen_as_taken() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        assert not files.can_bind(port)


def test_data_can_outlive_the_rest_of_the_folder(tmp_path: Path) -> None:
    held = files.InstanceFiles(tmp_path / "broker-0")
    held.make()
    held.write({"broker.xml": "<x/>"})
    (held.data / "journal").write_text("messages")
    (held.folder / "ports.json").write_text("{}")

    for _ in range(2):
        held.remove(keep_data=True)
    left = sorted(str(path.relative_to(held.folder)) for path in held.folder.rglob("*"))
    for _ in range(2):
        held.remove()

    assert left == ["data", "data/journal"]
    assert not held.folder.exists()
