from typing import Literal, cast

ListNotificationDeliveriesSort = Literal["-created_at", "created_at"]


def check_list_notification_deliveries_sort(value: str) -> ListNotificationDeliveriesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListNotificationDeliveriesSort, value)
