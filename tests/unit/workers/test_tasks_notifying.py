"""A worker goes on at once while notifications are left to send."""

from typing import Any

import pytest

from workers import tasks
from workers.notifications import delivering


@pytest.mark.parametrize(("sent", "expected"), [(320, [{"expires": 5}]), (0, [])])
def test_a_run_that_sent_something_enqueues_the_next_one(
    sent: int, expected: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueued: list[dict[str, Any]] = []
    monkeypatch.setattr(delivering, "run", lambda clock: sent)
    monkeypatch.setattr(tasks.notify, "apply_async", lambda **more: enqueued.append(more))

    tasks.notify()

    assert enqueued == expected
