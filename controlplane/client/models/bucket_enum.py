from typing import Literal, cast

BucketEnum = Literal["days_1_to_30", "days_31_to_60", "days_61_to_90", "days_over_90", "not_due"]


def check_bucket_enum(value: str) -> BucketEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(BucketEnum, value)
