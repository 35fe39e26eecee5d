from typing import Literal, cast

ListPaymentEventsState = Literal["applied", "ignored", "refused", "waiting"]


def check_list_payment_events_state(value: str) -> ListPaymentEventsState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListPaymentEventsState, value)
