from typing import Literal, cast

CategoryEnum = Literal["E", "Z"]


def check_category_enum(value: str) -> CategoryEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(CategoryEnum, value)
