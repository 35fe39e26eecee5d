from typing import Literal, cast

PaymentEventStateEnum = Literal["applied", "ignored", "refused", "waiting"]


def check_payment_event_state_enum(value: str) -> PaymentEventStateEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(PaymentEventStateEnum, value)
