from typing import Literal, cast

ListNotificationDeliveriesState = Literal["delivered", "dropped", "failed", "waiting"]


def check_list_notification_deliveries_state(value: str) -> ListNotificationDeliveriesState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListNotificationDeliveriesState, value)
