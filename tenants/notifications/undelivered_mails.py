"""Mails that did not reach the mail server: late ones, and those that workers gave up.

A mail is a delivery without a channel. The first attempt follows within seconds, so a mail that
waits for longer than ``LATE_AFTER`` has failed at least once, or no worker runs. A mail that the
server refuses for good, or that it has not taken for almost 24 hours, has failed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from tenants.notifications.models import Delivery

LATE_AFTER = timedelta(minutes=15)
_RECENTLY = timedelta(days=1)
_MAILS = Q(channel__isnull=True)
FAILED = _MAILS & Q(state=Delivery.State.FAILED)


@dataclass(frozen=True)
class Undelivered:
    """How many mails wait for longer than ``LATE_AFTER``, and how many failed in 24 hours."""

    late: int
    failed: int


def count(now: datetime) -> Undelivered:
    """Count them at ``now`` by two queries, which read indexes of such mails alone."""
    return Undelivered(
        late=Delivery.objects.filter(_late(now)).count(),
        failed=Delivery.objects.filter(FAILED, ended_at__gt=now - _RECENTLY).count(),
    )


def has_failed() -> bool:
    """Return whether a mail failed in the last 30 days; older ones are deleted."""
    return Delivery.objects.filter(FAILED).exists()


def list_all(now: datetime) -> QuerySet[Delivery, Delivery]:
    """Return late mails and those that failed in the last 30 days, newest first, for staff.

    Their events and tenants are loaded.
    """
    rows = Delivery.objects.filter(_late(now) | FAILED).select_related("event", "tenant")
    return rows.order_by("-created_at", "-id")


def _late(now: datetime) -> Q:
    return _MAILS & Q(state=Delivery.State.WAITING, created_at__lt=now - LATE_AFTER)
