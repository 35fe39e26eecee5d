"""Late mails and failed ones: which they are, and that quiet deliveries are not read."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import Actor
from controlplane.core.models import AuditEvent
from tenants.actions import mail_deliveries
from tenants.notifications import deliveries, undelivered_mails
from tenants.notifications.deliveries import Outcome
from tenants.notifications.models import Delivery, Event
from tenants.notifications.undelivered_mails import LATE_AFTER, Undelivered
from tests.support import domain, query_plans
from tests.support.notifications import notified

pytestmark = pytest.mark.django_db
STAFF = Actor("user:staff@operator.test")
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
REFUSED = Outcome(12, "The mail server refused the receiver: [550]", is_final=True)
AWAY = Outcome(12, "The mail server did not take the mail: connection refused")


def mail(cast: domain.Cast, name: str, *, age: timedelta) -> Delivery:
    """Return a mail to the owner that waits since ``age`` before ``NOW``."""
    event = Event.objects.create(
        kind="invoice.issued", tenant=cast.tenant, dedup_key=name, occurred_at=NOW, routed_at=NOW
    )
    row = Delivery.objects.create(
        event=event,
        tenant=cast.tenant,
        user=cast.owner,
        email=cast.owner.email,
        next_attempt_at=NOW - age,
    )
    Delivery.objects.filter(pk=row.pk).update(created_at=NOW - age)
    return row


def tried(outcome: Outcome, now: datetime = NOW) -> None:
    for claimed in deliveries.claim(now, 10):
        deliveries.record(claimed, outcome, now)


def test_a_mail_is_late_after_a_quarter_of_an_hour_and_failed_once_refused(
    cast: domain.Cast,
) -> None:
    mail(cast, "new", age=timedelta(minutes=1))
    mail(cast, "late", age=LATE_AFTER + timedelta(seconds=1))
    notified.delivery(notified.webhook(cast.tenant))  # a channel's is no mail
    Delivery.objects.filter(channel__isnull=False).update(created_at=NOW - timedelta(hours=1))

    assert undelivered_mails.count(NOW) == Undelivered(late=1, failed=0)
    tried(REFUSED)
    assert undelivered_mails.count(NOW) == Undelivered(late=0, failed=2)
    assert undelivered_mails.count(NOW + timedelta(days=1)) == Undelivered(late=0, failed=0)
    listed = undelivered_mails.list_all(NOW + timedelta(days=1))
    assert [row.event.dedup_key for row in listed] == ["new", "late"]


def test_failed_mails_are_sent_again_and_those_that_wait_keep_their_attempts(
    cast: domain.Cast,
) -> None:
    failed = mail(cast, "failed", age=timedelta(minutes=20))
    tried(REFUSED)
    waiting = mail(cast, "waiting", age=timedelta(minutes=20))
    tried(AWAY)

    assert undelivered_mails.has_failed()
    assert [mail_deliveries.send_failed(by=STAFF, now=NOW) for _ in range(2)] == [1, 0]
    assert not undelivered_mails.has_failed()

    failed.refresh_from_db()
    waiting.refresh_from_db()
    assert (failed.state, failed.attempts, failed.ended_at) == ("waiting", 0, None)
    assert (waiting.attempts, waiting.reason) == (1, AWAY.error)
    assert AuditEvent.objects.get(action="mail.send_again").after == {"mails": 1}
    tried(Outcome(12))
    failed.refresh_from_db()
    assert failed.state == Delivery.State.DELIVERED


def test_counting_reads_no_mail_that_arrived(cast: domain.Cast) -> None:
    for number in range(200):
        mail(cast, f"arrived-{number}", age=timedelta(hours=1))
    Delivery.objects.update(state=Delivery.State.DELIVERED, ended_at=NOW)
    mail(cast, "late", age=timedelta(hours=1))

    with CaptureQueriesContext(connection) as queries:
        found = undelivered_mails.count(NOW)

    assert found == Undelivered(late=1, failed=0)
    selects = [one["sql"] for one in queries]
    assert len(selects) == 2
    read = query_plans.rows_read(selects, {"notifications_delivery"})
    assert read["notifications_delivery"] <= 1
