"""Operations on messages in both types of spaces, on real engines: what they do, and no bill."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from django.utils import timezone

from controlplane.core.models import AuditEvent
from tenants.actions import message_requests
from tenants.models import MessageRequest
from tests.support.messaging import interrupted_resend, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.message_operations import ALICE, Operated
from tests.support.messaging.worker_process import WorkerProcess
from tests.support.waiting import eventually
from workers.message_requests import KEPT, delete_old
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.broker,
    pytest.mark.router,
    pytest.mark.slow,
    # Real transactions: the auth service and the workers are other processes and must see the rows.
    pytest.mark.django_db(transaction=True),
]
Sorts = Mapping[str, tuple[str, str]]  # the type of the space and its routers' engine, by id
BROKERED: Sorts = {"brokered": ("brokered", routing_rig.ENGINES[-1])}
STANDARD: Sorts = {f"standard-{engine}": ("standard", engine) for engine in routing_rig.ENGINES}

MANY = 2_000


def of(*, always: Sorts, in_drills: Sorts) -> pytest.MarkDecorator:
    """Run a test for some sorts of spaces always, and for others in the drills."""
    cells = [pytest.param(*sort, id=name) for name, sort in always.items()]
    cells += [
        pytest.param(*sort, id=name, marks=pytest.mark.drill) for name, sort in in_drills.items()
    ]
    return pytest.mark.parametrize(("kind", "router_engine"), cells)


@pytest.fixture
def operated(
    kind: str, auth: AuthProcess, real_ports: Ports, state_dir: Path, tmp_path: Path
) -> Operated:
    return Operated.make(real_ports, state_dir, tmp_path, kind)


@of(always=BROKERED, in_drills=STANDARD)
def test_each_operation_does_its_work_and_none_is_billed(operated: Operated) -> None:
    dead, other, orders = (operated.addresses[name] for name in ("dead", "other", "orders"))
    operated.reject(*(f"m{n}" for n in range(6)))
    before = operated.used()
    page, after = operated.browse("dead")
    assert ([body for _, body in page], after) == ([f"m{n}" for n in range(6)], "")
    ids = [id_ for id_, _ in page]

    operated.run(message_requests.delete(address=dead, messages=ids[:1], by=ALICE))
    operated.run(message_requests.move(address=dead, to=other, messages=ids[1:3], by=ALICE))
    operated.run(message_requests.resend(address=dead, messages=ids[3:4], by=ALICE))
    operated.run(message_requests.resend(address=dead, messages=None, by=ALICE))
    operated.run(message_requests.send(address=orders, body="test", properties={"n": 1}, by=ALICE))
    assert operated.bodies("dead") == []
    assert operated.bodies("other") == ["m1", "m2"]
    operated.run(message_requests.move(address=other, to=orders, messages=None, by=ALICE))
    operated.run(message_requests.send(address=other, body="test", by=ALICE))
    operated.run(message_requests.purge(address=other, by=ALICE))
    assert operated.bodies("other") == []

    assert operated.used() == before  # operations are not billed
    assert operated.receive("orders", 6) == ["m3", "m4", "m5", "test", "m1", "m2"]
    # Alice's own traffic is billed. A router passes her acknowledgments on to the broker.
    own = (before[0], before[1] + 6)
    eventually(lambda: operated.used() == own, "what alice received is counted")
    ended = AuditEvent.objects.filter(action__endswith=".ended", actor=ALICE.name).order_by("id")
    assert [(event.action, event.after["messages"]) for event in ended] == [
        ("messages.delete.ended", 1),
        ("messages.move.ended", 2),
        ("messages.resend.ended", 1),
        ("messages.resend.ended", 2),
        ("messages.send.ended", 1),
        ("messages.move.ended", 2),
        ("messages.send.ended", 1),
        ("messages.purge.ended", 1),
    ]
    delete_old(timezone.now() + KEPT)
    kept = MessageRequest.objects.order_by("created_at").values_list("kind", "sealed")
    assert [sealed for _, sealed in kept] == [""] * 8
    assert "browse" not in dict(kept)


@of(always={}, in_drills={**BROKERED, **STANDARD})
def test_dead_letters_return_once_although_the_worker_is_killed(
    operated: Operated, state_dir: Path, tmp_path: Path
) -> None:
    bodies = [f"m{n}" for n in range(MANY)]
    operated.reject(*bodies)
    first, after = operated.browse("dead")
    second, _ = operated.browse("dead", after)
    assert [body for _, body in (*first, *second)] == bodies[:100]
    assert operated.browse("dead", "broker-0:50")[0] == second  # as an older version wrote it
    worker = WorkerProcess(state_dir, tmp_path / "worker.log")

    interrupted_resend.run(operated, worker, MANY)

    assert sorted(operated.receive("orders", MANY)) == sorted(bodies)
    assert operated.stored("orders").messages == 0  # so none came twice
    assert not AuditEvent.objects.filter(after__icontains="m1").exists()


@of(always=STANDARD, in_drills=BROKERED)
def test_chosen_dead_letters_return_at_the_rate_too(operated: Operated) -> None:
    operated.reject(*(f"m{n}" for n in range(6)))
    page, _ = operated.browse("dead")
    chosen = [id_ for id_, _ in page][:5]

    resend = message_requests.resend(
        address=operated.addresses["dead"], messages=chosen, rate=2, by=ALICE
    )
    runs = []
    for _ in range(3):
        again = operated.worker.run(resend.subject_id)
        runs.append((again, MessageRequest.objects.get(pk=resend.subject_id).done))

    assert runs == [(1.0, 2), (1.0, 4), (None, 5)]
    assert operated.receive("orders", 5) == [f"m{n}" for n in range(5)]
