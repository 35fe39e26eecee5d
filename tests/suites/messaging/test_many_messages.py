"""A resend of 100,000 dead letters whose worker is killed: `make test-large` runs it (15 min)."""

from collections import Counter
from pathlib import Path

import pytest

from tests.support.messaging import interrupted_resend
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.message_operations import Operated
from tests.support.messaging.worker_process import WorkerProcess
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
MANY = 100_000


def test_every_one_of_100_000_dead_letters_returns_once(
    real_ports: Ports, auth: AuthProcess, state_dir: Path, tmp_path: Path
) -> None:
    operated = Operated.make(real_ports, state_dir, tmp_path, "brokered", plan="medium")
    operated.reject(*(f"m{n}" for n in range(MANY)))
    assert operated.used() == (MANY, 0)
    worker = WorkerProcess(state_dir, tmp_path / "worker.log")

    interrupted_resend.run(operated, worker, MANY, seconds=1800)

    counts = Counter(operated.walk("orders"))
    assert counts == Counter(f"m{n}" for n in range(MANY))
