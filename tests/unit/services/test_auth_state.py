"""The picture of users: what it grants, and its sealed copy on disk."""

import stat
from pathlib import Path

import pytest

from workers.services.auth.state import KnownUser, SpaceUsers, State, Verifier

VERIFIER = Verifier("c2FsdA==", 4096, "c3RvcmVk", "c2VydmVy")
ANNA = KnownUser("anna", VERIFIER, {"orders": ("recv", "send"), "audit/#": ("send",)})
PICTURE = {"spc_1": SpaceUsers(False, {"anna": ANNA}), "spc_2": SpaceUsers(True)}


def test_permissions_are_what_was_granted() -> None:
    space = SpaceUsers(False, {"anna": ANNA})

    assert space.permissions_of(ANNA) == {"orders": ["recv", "send"], "audit/#": ["send"]}


def test_permissions_lose_send_while_it_is_withdrawn() -> None:
    space = SpaceUsers(True, {"anna": ANNA})

    assert space.permissions_of(ANNA) == {"orders": ["recv"]}


def test_state_is_restored_as_it_was(tmp_path: Path) -> None:
    State(tmp_path / "users.sealed").replace(PICTURE)

    restored = State(tmp_path / "users.sealed")
    restored.restore()

    assert restored.picture == PICTURE


def test_state_on_disk_is_private_and_sealed(tmp_path: Path) -> None:
    file = tmp_path / "auth" / "users.sealed"

    State(file).replace(PICTURE)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"anna" not in file.read_bytes()
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("content", [None, b"", b"garbage", b"\xff\xfe"])
def test_state_stays_unknown_when_the_copy_is_unreadable(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "users.sealed"
    if content is not None:
        file.write_bytes(content)
    state = State(file)

    state.restore()

    assert state.picture is None


def test_a_copy_that_cannot_be_written_does_not_stop_logins(tmp_path: Path) -> None:
    (tmp_path / "auth").write_text("a file where the folder should be")
    state = State(tmp_path / "auth" / "users.sealed")

    state.replace(PICTURE)

    assert state.picture == PICTURE
