"""Two workers at once, on two connections to a real PostgreSQL, that store attempts of one channel.

Both are held at the same point until both have come that far, or until one waits for the other.
"""

from functools import partial

import pytest

from controlplane.core.audit import SYSTEM
from tenants.actions import notification_channels
from tenants.notifications import deliveries
from tenants.notifications.deliveries import Outcome
from tenants.notifications.models import Channel, Delivery
from tests.support import domain
from tests.support.notifications import notified
from tests.unit.tenants.test_admission_concurrent import race

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
GONE = Outcome(1, "The receiver answered 410.", 410, is_gone=True, is_final=True)


@pytest.fixture
def channel(transactional_db: None) -> Channel:
    return notified.webhook(domain.cast().tenant)


def test_two_failures_that_disable_one_channel_wait_for_each_other(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [notified.delivery(channel), notified.delivery(channel)]
    now = rows[0].next_attempt_at

    # A deadlock would end one thread with an error, which fails the test.
    race(
        monkeypatch,
        *(partial(deliveries.record, row, GONE, now) for row in rows),
        meet="_end",
        where=deliveries,
    )

    channel.refresh_from_db()
    assert channel.disabled_at == now
    ended = Delivery.objects.order_by("state").values_list("state", flat=True)
    assert list(ended) == [Delivery.State.DROPPED, Delivery.State.FAILED]


def test_a_channel_is_deleted_while_an_attempt_is_stored(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = notified.delivery(channel)
    delivered = Outcome(1, status=204)

    race(
        monkeypatch,
        partial(deliveries.record, row, delivered, row.next_attempt_at),
        partial(notification_channels.delete, channel=channel, by=SYSTEM),
        meet="_end",
        where=deliveries,
    )

    assert not Channel.objects.exists()
