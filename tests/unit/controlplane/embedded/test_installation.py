"""One folder, its secrets and its ports."""

import itertools
import socket
import stat
from pathlib import Path

import pytest

from controlplane.core.errors import Invalid, Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import ports


def test_create_keeps_secrets_from_other_users(tmp_path: Path) -> None:
    installations.create(tmp_path / "state")

    mode = (tmp_path / "state" / "installation.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_load_returns_what_create_made(tmp_path: Path) -> None:
    made = installations.create(tmp_path / "state")

    assert installations.load(tmp_path / "state") == made


def test_two_installations_share_neither_secrets_nor_ports(tmp_path: Path) -> None:
    one = installations.create(tmp_path / "one")
    other = installations.create(tmp_path / "other")

    assert one.id != other.id
    assert set(vars(one.secrets).values()).isdisjoint(vars(other.secrets).values())


def test_move_ports_is_remembered(tmp_path: Path) -> None:
    made = installations.create(tmp_path / "state")

    moved = installations.move_ports(made, {"valkey": 1234})

    assert moved.ports.valkey == 1234
    assert moved.ports.postgres == made.ports.postgres
    assert installations.load(tmp_path / "state") == moved


def test_with_settings_keeps_earlier_ones(tmp_path: Path) -> None:
    made = installations.create(tmp_path / "state")
    first = installations.with_settings(made, {"WAYPOST_SAMPLE_SECONDS": "5"})

    installations.with_settings(first, {"WAYPOST_LANDING_SECONDS": "7"})

    kept = installations.load(tmp_path / "state")
    assert kept is not None
    assert kept.settings == {"WAYPOST_SAMPLE_SECONDS": "5", "WAYPOST_LANDING_SECONDS": "7"}


def test_load_of_an_empty_folder_is_none(tmp_path: Path) -> None:
    assert installations.load(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{", "{}", '{"id": "x", "secrets": {"a": 1}}'])
def test_load_of_a_broken_file_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "installation.json").write_text(content)

    with pytest.raises(Unavailable) as refusal:
        installations.load(tmp_path)

    assert refusal.value.error_code == "stack.unreadable"
    assert "--purge" in refusal.value.message


def test_root_from_refuses_paths_that_sockets_cannot_carry(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refusal:
        installations.root_from(tmp_path / ("x" * 100))

    assert refusal.value.error_code == "stack.path_too_long"


def test_a_claimed_port_is_kept_from_others_until_the_claim_ends() -> None:
    with ports.claiming() as ours:
        port = ours.take_any()
        with ports.claiming() as theirs:
            assert not theirs.take(port)
        assert ours.take(port)

    with ports.claiming() as theirs:
        assert theirs.take(port)


def draw_each_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the draw of a port give each twice in a row."""
    drawn = itertools.count(20000)
    monkeypatch.setattr("random.choice", lambda _ports: next(drawn) // 2 + 10000)


def test_ports_claimed_together_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_each_twice(monkeypatch)

    with ports.claiming() as claims:
        taken = [claims.take_any() for _ in range(4)]

    assert len(set(taken)) == 4


def test_a_port_that_may_be_stored_is_none_that_somebody_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ports.claiming() as claims:
        claimed = claims.take_any()
        free = ports.reserve_port()
        drawn = iter([claimed, claimed, free])
        monkeypatch.setattr("random.choice", lambda _ports: next(drawn))

        assert ports.reserve_port() == free


def test_the_usual_port_of_the_portal_is_taken_only_while_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        usual = stranger.getsockname()[1]
        monkeypatch.setattr(installations, "_USUAL_WEB_PORT", usual)

        assert installations.create(tmp_path / "a").ports.web != usual
    assert installations.create(tmp_path / "b").ports.web == usual


def test_an_installation_has_four_ports_whatever_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_each_twice(monkeypatch)

    made = installations.create(tmp_path)

    assert len(set(vars(made.ports).values())) == 4


def test_a_port_where_something_listens_cannot_be_claimed() -> None:
    with ports.claiming() as claims, socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()

        assert not claims.take(stranger.getsockname()[1])
        assert not ports.is_free(stranger.getsockname()[1])
