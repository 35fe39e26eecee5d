"""Every task ends before the lease of its work does."""

import celery
import pytest

from controlplane.core import leases, time_limits
from workers import pod_watcher, tasks
from workers.reconcile import lease

LEASES = (leases._LONGEST_SECONDS, lease._LONGEST_SECONDS)


@pytest.mark.parametrize("longest", LEASES)
def test_each_task_ends_before_its_lease(longest: float) -> None:
    app = celery.current_app
    own = {name: task for name, task in app.tasks.items() if name.startswith("workers.")}
    assert tasks.reconcile_space.name in own
    for task in own.values():
        hard = task.time_limit or app.conf.task_time_limit
        assert 0 < (task.soft_time_limit or app.conf.task_soft_time_limit) < hard < longest


def test_a_watch_on_pods_ends_before_its_lease() -> None:
    assert pod_watcher._WATCH_SECONDS < leases._LONGEST_SECONDS


@pytest.mark.parametrize(
    ("soft", "hard"), [(540, 900), (540, 3600), (600, 600), (700, 600), (0, 600), (540, 0)]
)
def test_limits_in_another_order_are_refused(soft: float, hard: float) -> None:
    with pytest.raises(ValueError, match="its lease is extended for 900 s"):
        time_limits.require_order(soft, hard)
