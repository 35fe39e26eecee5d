"""A process that hangs is told from one that works and from one that waits for its queue."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery.signals import beat_init, before_task_publish, heartbeat_sent
from celery.worker.heartbeat import Heart

from controlplane import celery, heartbeat
from workers import schedule

NOW = 1_000_000.0


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that this process touches; it is not there yet."""
    monkeypatch.setenv("WAYPOST_HEARTBEAT_FILE", str(tmp_path / "heartbeat"))
    return tmp_path / "heartbeat"


@pytest.fixture
def as_beat() -> Iterator[None]:
    """Let this process listen as Celery beat does."""
    celery.touch_at_each_sent_task()
    yield
    before_task_publish.disconnect(celery.beat_turns)


@pytest.mark.parametrize(
    ("age", "queue", "hangs"),
    [
        (None, True, True),
        (None, False, False),
        (heartbeat.STALE_SECONDS, True, False),
        (heartbeat.STALE_SECONDS + 1, True, True),
        (heartbeat.STALE_SECONDS + 1, False, False),
    ],
)
def test_it_hangs_if_its_file_is_old_and_its_queue_answers(
    age: int | None, queue: bool, hangs: bool, file: Path
) -> None:
    if age is not None:
        file.touch()
        os.utime(file, (NOW - age, NOW - age))

    assert heartbeat.hangs(file, NOW, lambda: queue) is hangs


def test_a_fresh_file_asks_no_queue(file: Path) -> None:
    file.touch()
    os.utime(file, (NOW, NOW))

    def asked() -> bool:
        pytest.fail("asked")

    assert not heartbeat.hangs(file, NOW, asked)


def test_a_worker_s_heartbeat_touches_it(file: Path) -> None:
    timer = SimpleNamespace(call_repeatedly=lambda *args: None)
    eventer = SimpleNamespace(
        on_enabled=set(), on_disabled=set(), enabled=True, send=lambda *args, **kwargs: None
    )

    Heart(timer, eventer).start()

    assert file.exists()


@pytest.mark.usefixtures("as_beat")
def test_a_task_that_beat_sends_touches_it(file: Path) -> None:
    before_task_publish.send(sender="workers.reconcile_due")

    assert file.exists()
    assert beat_init.has_listeners()
    # So the file is touched many times before it counts as old.
    often = min(entry["schedule"] for entry in schedule.TABLE.values())
    assert often < heartbeat.STALE_SECONDS / 10


def test_other_processes_send_tasks_without_it(file: Path) -> None:
    before_task_publish.send(sender="workers.reconcile_due")

    assert not file.exists()


def test_nothing_is_written_where_no_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYPOST_HEARTBEAT_FILE", raising=False)

    assert heartbeat_sent.send(sender=None)[0][1] is None


def test_the_probe_says_why(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WAYPOST_REDIS_URL", "redis://127.0.0.1:1/0")
    heartbeat.main()  # the queue is away
    monkeypatch.setattr("controlplane.core.reachability.queue_answers", lambda url: True)

    with pytest.raises(SystemExit, match="no heartbeat for 120 s") as ended:
        heartbeat.main()

    assert ended.value.code != 0
