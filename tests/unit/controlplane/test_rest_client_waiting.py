"""Waiting for an operation: seen soon after it ended, and without asking all the time."""

import pytest

from controlplane import rest_client
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
        return {"state": "Succeeded" if clock.now >= ends_at else "Running"}

    monkeypatch.setattr(Api, "get", get)

    Api("http://127.0.0.1:9").wait("acme", {"id": "op_1"})

    assert clock.now <= max(1.05 * ends_at, ends_at + 0.05)
    assert len(asked) <= 130
