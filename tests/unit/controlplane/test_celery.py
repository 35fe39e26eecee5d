"""A worker starts only with time limits that end each task before its lease."""

from typing import Any

import pytest
from celery.signals import celeryd_init

from controlplane.celery import app


def _start(**options: Any) -> None:
    celeryd_init.send(sender="worker", instance=None, conf=app.conf, options=options)


@pytest.mark.parametrize(
    "options", [{"time_limit": 3600}, {"soft_time_limit": 601}, {"time_limit": 0}]
)
def test_a_worker_whose_tasks_could_outlive_their_leases_does_not_start(
    options: dict[str, float],
) -> None:
    with pytest.raises(SystemExit, match="start the worker without --soft-time-limit"):
        _start(**options)


@pytest.mark.parametrize("options", [{}, {"time_limit": None, "soft_time_limit": None}])
def test_a_worker_starts_with_the_usual_limits(options: dict[str, None]) -> None:
    _start(**options)

    assert (app.conf.task_soft_time_limit, app.conf.task_time_limit) == (540, 600)
