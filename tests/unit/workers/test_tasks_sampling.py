"""A round of samples has a space looked at when one of its instances does not answer."""

import pytest

from controlplane.core import enqueue
from workers import tasks, wiring
from workers.metering import sampling
from workers.metering.sampling import Sampled


def test_a_silent_instance_has_its_space_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [
        Sampled("spc_1", is_applied=True, reached=frozenset({"router-0"})),
        Sampled("spc_2", is_applied=True, silent=frozenset({"router-0"})),
    ]
    asked: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(wiring, "readers", lambda: None)
    monkeypatch.setattr(sampling, "sample_all", lambda _readers: seen)
    monkeypatch.setattr(enqueue, "after_commit", lambda task, **ids: asked.append((task, ids)))

    tasks.sample()

    assert asked == [("workers.reconcile_space", {"space_id": "spc_2"})]
