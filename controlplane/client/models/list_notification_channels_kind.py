from typing import Literal, cast

ListNotificationChannelsKind = Literal["chat", "webhook"]


def check_list_notification_channels_kind(value: str) -> ListNotificationChannelsKind:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListNotificationChannelsKind, value)
