"""Send mails again that workers gave up."""

from datetime import datetime

from django.db import transaction

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from tenants.notifications import undelivered_mails
from tenants.notifications.models import Delivery


def send_failed(*, by: Actor, now: datetime) -> int:
    """Make each failed mail due at ``now``, with a new series of attempts; return their number.

    Before a worker sends a mail, it checks that the person may still get it. So a mail to someone
    who has left the team is dropped. Idempotent: a mail that waits again is not failed any more.
    """
    with transaction.atomic():
        # One statement: a mail whose series another call has begun is not failed any more.
        n_mails = Delivery.objects.filter(undelivered_mails.FAILED).update(
            state=Delivery.State.WAITING,
            ended_at=None,
            reason="",
            attempts=0,
            next_attempt_at=now,
        )
        if n_mails:
            subject = audit.Subject("mail", "failed", "mails that had failed")
            audit.record(by, "mail.send_again", subject, after={"mails": n_mails})
            enqueue.after_commit("workers.notify")
    return n_mails
