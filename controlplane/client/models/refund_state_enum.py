from typing import Literal, cast

RefundStateEnum = Literal["failed", "pending", "requested", "succeeded"]


def check_refund_state_enum(value: str) -> RefundStateEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(RefundStateEnum, value)
