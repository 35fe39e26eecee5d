from typing import Literal, cast

ListNotificationChannelsSort = Literal["-created_at", "-name", "created_at", "name"]


def check_list_notification_channels_sort(value: str) -> ListNotificationChannelsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListNotificationChannelsSort, value)
