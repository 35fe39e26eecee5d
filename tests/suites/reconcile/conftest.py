"""A fresh world of fakes for every test of the reconcile loop."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.reconcile.world import World, time_with
from workers.reconcile import loop


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)

    def sleep(seconds: float) -> None:
        made.now += timedelta(seconds=seconds)

    monkeypatch.setattr(loop, "time", time_with(sleep))
    return made
