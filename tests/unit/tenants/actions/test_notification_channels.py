"""A channel, delivery or alarm that is deleted between the read and the action is missing."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Missing
from tenants.actions import alarms, notification_channels
from tenants.actions.alarms import Limits
from tenants.notifications.models import AddressAlarm, Channel
from tests.support import domain
from tests.support.domain import Cast
from tests.support.notifications import notified


def held(*, channel: Channel, by: Any) -> None:
    with notification_channels.held(channel):
        pass


@pytest.mark.parametrize(
    "action",
    [
        held,
        notification_channels.update,
        notification_channels.rotate_secret,
        notification_channels.test,
    ],
)
def test_a_channel_deleted_meanwhile_is_missing(cast: Cast, action: Callable[..., Any]) -> None:
    channel = notified.webhook(cast.tenant)
    Channel.objects.all().delete()

    with pytest.raises(Missing) as refusal:
        action(channel=channel, by=SYSTEM)
    assert refusal.value.error_code == "channel.missing"


def test_a_delivery_deleted_meanwhile_is_missing(cast: Cast) -> None:
    delivery = notified.delivery(notified.webhook(cast.tenant))
    Channel.objects.all().delete()

    with pytest.raises(Missing) as refusal:
        notification_channels.replay(delivery=delivery, by=SYSTEM)
    assert refusal.value.error_code == "delivery.missing"


def test_an_alarm_deleted_meanwhile_is_missing(cast: Cast) -> None:
    alarm = notified.alarm(domain.address(domain.space(cast.tenant, "brokered"), "orders"))
    AddressAlarm.objects.all().delete()

    with pytest.raises(Missing) as refusal:
        alarms.update(alarm=alarm, limits=Limits(500), by=SYSTEM)
    assert refusal.value.error_code == "alarm.missing"
