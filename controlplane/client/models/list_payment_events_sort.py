from typing import Literal, cast

ListPaymentEventsSort = Literal["-received_at", "received_at"]


def check_list_payment_events_sort(value: str) -> ListPaymentEventsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListPaymentEventsSort, value)
