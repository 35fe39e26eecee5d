"""Waiting for an operation: seen soon after it ended, and without asking all the time."""

import pytest

from controlplane import rest_client
from controlplane.core.errors import Unavailable
from controlplane.rest_client import Api, Json


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("ends_at", [0.3, 1.0, 4.0, 18.0, 60.0])
def test_an_end_is_seen_soon_and_cheaply(monkeypatch: pytest.MonkeyPatch, ends_at: float) -> None:
    clock, asked = Clock(), []
    monkeypatch.setattr(rest_client, "time", clock)

    def get(_api: Api, path: str) -> Json:
        asked.append(path)
        return {"state": "Succeeded" if clock.now >= ends_at else "Running", "steps": []}

    monkeypatch.setattr(Api, "get", get)

    Api("http://127.0.0.1:9").wait("acme", {"id": "op_1"})

    assert clock.now <= max(1.05 * ends_at, ends_at + 0.05)
    assert len(asked) <= 130


def operation(state: str, *messages: str) -> Json:
    steps = [{"name": "resend", "state": "running", "message": message} for message in messages]
    return {"state": state, "kind": "messages.resend", "subject_name": "dead", "steps": steps}


def test_progress_is_waited_for_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(rest_client, "time", clock)

    def get(_api: Api, path: str) -> Json:
        state = "Succeeded" if clock.now > 3600 else "Running"
        return operation(state, f"{clock.now // 100} messages")

    monkeypatch.setattr(Api, "get", get)

    Api("http://127.0.0.1:9").wait("acme", {"id": "op_1"})

    assert clock.now > 3600


@pytest.mark.parametrize("words", [["7 of 9 messages"], ["waits for a", "waits for b"]])
def test_an_operation_without_progress_ends_the_wait(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(rest_client, "time", clock)

    def get(_api: Api, path: str) -> Json:
        # It repeats itself, which is no progress.
        return operation("Running", words[int(clock.now) % len(words)])

    monkeypatch.setattr(Api, "get", get)

    with pytest.raises(Unavailable, match=r"dead still runs, and made no progress for 180 s: res"):
        Api("http://127.0.0.1:9").wait("acme", {"id": "op_1"})

    assert 180 < clock.now < 200
