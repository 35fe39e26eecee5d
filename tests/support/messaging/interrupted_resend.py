"""A resend of all dead letters whose worker process is killed (SIGKILL), and what must hold then.

Tests of several sizes use it.
"""

import pytest

from controlplane.core.models import AuditEvent, Lease
from tenants.actions import message_requests
from tenants.models import MessageRequest
from tests.support.messaging import message_operations
from tests.support.messaging.message_operations import ALICE, Operated
from tests.support.messaging.worker_process import WorkerProcess
from tests.support.waiting import eventually


def run(operated: Operated, worker: WorkerProcess, count: int, *, seconds: float = 120) -> None:
    """Resend the ``count`` dead letters of ``dead``; check progress, audit and usage.

    The worker process dies in the middle of a batch, after a third of the messages, and another one
    goes on. Each has ``seconds``. The caller compares the messages.
    """
    before = operated.used()
    dead = operated.addresses["dead"]
    resend = message_requests.resend(address=dead, messages=None, by=ALICE)
    with pytest.raises(message_requests.ChangeRunning):
        message_requests.purge(address=dead, by=ALICE)

    def is_in_a_batch() -> bool:
        """Whether the broker has moved messages that nobody has written down yet."""
        noted = MessageRequest.objects.get(pk=resend.subject_id).done
        return count // 3 < noted < operated.removed("dead") < count

    worker.kill_when(resend.subject_id, is_in_a_batch, seconds=seconds)
    eventually(lambda: operated.removed("dead") == operated.removed("dead"), "the broker rests")
    halfway = MessageRequest.objects.get(pk=resend.subject_id)
    assert halfway.done < operated.removed("dead") < count == halfway.total
    resend.refresh_from_db()
    assert resend.steps[0]["message"] == f"{halfway.done} of {count} messages"
    # The killed process has left its leases, which expire.
    left = Lease.objects.filter(name__in=[f"messages:{halfway.pk}", f"sample:{operated.space.pk}"])
    assert left.delete()[0] == 2
    assert operated.used() == before

    worker.finish(resend.subject_id, seconds=seconds)

    row = message_operations.done(resend)
    assert (row.done, row.total) == (count, count)
    assert resend.steps[0]["message"] == f"{count} of {count} messages"
    assert (operated.stored("dead").messages, operated.removed("dead")) == (0, count)
    assert operated.used() == before
    events = AuditEvent.objects.filter(action__startswith="messages.resend", actor=ALICE.name)
    assert [(event.action, event.after) for event in events.order_by("id")] == [
        ("messages.resend", {"rate": None, "selected": "all"}),
        ("messages.resend.ended", {"messages": count, "to": ""}),
    ]
