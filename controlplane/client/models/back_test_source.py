from typing import Literal, cast

BackTestSource = Literal["copy", "lakehouse"]


def check_back_test_source(value: str) -> BackTestSource:
    """Return ``value``; a newer server may know others than these."""
    return cast(BackTestSource, value)
