"""Every task that the beat or an action names by text is one that a worker knows."""

import re

import celery
import pytest

from tests.support.source_tree import ROOT
from workers import schedule, tasks

_ENQUEUED = re.compile(r"after_commit\(\s*\"([^\"]+)\"")


def nudged() -> list[str]:
    """Return the task names that are enqueued by the actions."""
    sources = [path for app in ("tenants", "plans") for path in (ROOT / app).rglob("*.py")]
    return sorted({name for path in sources for name in _ENQUEUED.findall(path.read_text())})


def test_actions_do_enqueue() -> None:
    assert "workers.reconcile_space" in nudged()


@pytest.mark.parametrize("name", nudged())
def test_every_nudged_task_exists(name: str) -> None:
    assert name in celery.current_app.tasks, f"{tasks.__name__} has no {name}"


@pytest.mark.parametrize("entry", schedule.TABLE)
def test_every_beat_entry_names_a_task_that_exists(entry: str) -> None:
    assert schedule.TABLE[entry]["task"] in celery.current_app.tasks


@pytest.mark.parametrize("name", schedule.ROUTES)
def test_every_route_names_a_task_that_exists(name: str) -> None:
    assert name in celery.current_app.tasks
