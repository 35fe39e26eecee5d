from typing import Literal, cast

DeleteSpaceVolumes = Literal["delete", "keep"]


def check_delete_space_volumes(value: str) -> DeleteSpaceVolumes:
    """Return ``value``; a newer server may know others than these."""
    return cast(DeleteSpaceVolumes, value)
