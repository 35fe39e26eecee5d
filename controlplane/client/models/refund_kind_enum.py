from typing import Literal, cast

RefundKindEnum = Literal["chargeback", "refund"]


def check_refund_kind_enum(value: str) -> RefundKindEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(RefundKindEnum, value)
