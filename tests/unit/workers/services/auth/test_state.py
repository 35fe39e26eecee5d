"""The picture of users: what it grants, and its sealed copy on disk."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.services.auth.state import KnownUser, SpaceUsers, State, Verifier

VERIFIER = Verifier("c2FsdA==", 4096, "c3RvcmVk", "c2VydmVy")
ANNA = KnownUser("anna", VERIFIER, {"orders": ("recv", "send"), "audit/#": ("send",)})
ADDRESSES = ("audit", "audit/a/b", "auditor", "orders", "orders/new")
PICTURE = {
    "spc_1": SpaceUsers(False, {"anna": ANNA}, ADDRESSES),
    "spc_2": SpaceUsers(True),
}


# Of as many routers as a space can have, each by its name: never a pattern of names.
REPLIES = {f"amqp:/_topo/0/router-{number}/temp.*": ["send"] for number in range(5)}
# What Qpid JMS makes instead.
QUEUES = "amqp:/_$temp.*"
INTERNAL = {*REPLIES, QUEUES}


def granted(*patterns: str, addresses: tuple[str, ...] = ADDRESSES) -> dict[str, list[str]]:
    user = KnownUser("u", VERIFIER, dict.fromkeys(patterns, ("recv", "send")))
    found = SpaceUsers(False, {}, addresses).grants_of(user)
    return {key: value for key, value in found.items() if key not in INTERNAL}


def test_who_may_read_may_answer_over_the_routers_temporary_addresses() -> None:
    def replies(*operations: str, withdrawn: bool = False) -> set[str]:
        user = KnownUser("u", VERIFIER, {"orders": operations})
        found = SpaceUsers(withdrawn, {}, ("orders",)).grants_of(user)
        assert all(found[key] == ["send"] for key in set(found) & set(REPLIES))
        return set(found) & set(REPLIES)

    assert replies("recv") == replies("recv", "send") == set(REPLIES)
    assert replies("send") == replies("recv", withdrawn=True) == set()


@pytest.mark.parametrize(
    ("operations", "opened"),
    [
        (["send"], ["recv"]),
        (["recv"], ["send"]),
        (["recv", "send"], ["recv", "send"]),
    ],
)
def test_who_may_ask_reads_temporary_queues_and_who_may_read_answers_there(
    operations: list[str], opened: list[str]
) -> None:
    user = KnownUser("u", VERIFIER, {"orders": tuple(operations)})

    assert SpaceUsers(False, {}, ("orders",)).grants_of(user)[QUEUES] == opened
    assert QUEUES not in SpaceUsers(True, {}, ("orders",)).grants_of(user)


def test_grants_are_the_addresses_that_the_patterns_open() -> None:
    space = SpaceUsers(False, {"anna": ANNA}, ADDRESSES)

    assert space.grants_of(ANNA) == {
        "orders": ["recv", "send"],
        "audit": ["send"],
        "audit/a/b": ["send"],
        **REPLIES,
        QUEUES: ["recv", "send"],
    }


def test_grants_lose_send_while_it_is_withdrawn() -> None:
    space = SpaceUsers(True, {"anna": ANNA}, ADDRESSES)

    assert space.grants_of(ANNA) == {"orders": ["recv"]}


def test_grants_of_several_patterns_add_up() -> None:
    user = KnownUser("u", VERIFIER, {"orders": ("recv",), "*": ("send",)})

    assert SpaceUsers(False, {}, ("orders",)).grants_of(user) == {
        "orders": ["recv", "send"],
        **REPLIES,
        QUEUES: ["recv", "send"],
    }


def test_who_may_use_a_topic_may_use_its_subscriptions() -> None:
    assert set(granted("news", addresses=("news", "news::desk", "newspaper::x"))) == {
        "news",
        "news::desk",
    }


_pattern = st.lists(
    st.sampled_from(["*", "#", "orders", "$management", "_topo", "a,*", "x,$management"]),
    min_size=1,
    max_size=3,
).map("/".join)


@given(st.lists(_pattern, max_size=4))
def test_only_addresses_of_the_space_are_ever_granted(patterns: list[str]) -> None:
    assert set(granted(*patterns)) <= set(ADDRESSES)


def test_a_name_that_a_router_would_cut_is_never_granted() -> None:
    assert granted("#", addresses=("a,$management", "b")) == {"b": ["recv", "send"]}


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


def test_a_copy_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    file = tmp_path / "auth" / "users.sealed"
    (tmp_path / "auth").write_text("not a folder")
    state = State(file)
    state.replace(PICTURE)
    (tmp_path / "auth").unlink()

    state.replace(PICTURE)  # nothing changed since

    restarted = State(file)
    restarted.restore()
    assert restarted.picture == PICTURE
