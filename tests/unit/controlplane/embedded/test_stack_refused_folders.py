"""A refused folder is left as it was, and so is what is beside it."""

from pathlib import Path

import pytest

from controlplane.core.errors import WaypostError
from controlplane.embedded import stack


def _file(root: Path) -> None:
    root.write_text("mine")


def _foreign_folder(root: Path) -> None:
    root.mkdir()
    (root / "mine").touch()


@pytest.mark.parametrize("purge", [False, True])
def test_down_of_a_file_says_that_it_is_one(tmp_path: Path, *, purge: bool) -> None:
    _file(tmp_path / "s")

    with pytest.raises(WaypostError, match="is a file, not a folder") as refused:
        stack.down(tmp_path / "s", purge=purge)

    assert refused.value.error_code == "stack.not_a_folder"
    assert "purge" not in refused.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize(
    ("make", "code"),
    [(_file, "stack.not_a_folder"), (_foreign_folder, "stack.folder_taken")],
)
def test_up_leaves_nothing_beside_what_it_refuses(tmp_path: Path, make: object, code: str) -> None:
    assert callable(make)
    make(tmp_path / "s")

    with pytest.raises(WaypostError) as refused:
        stack.up(tmp_path / "s")

    assert refused.value.error_code == code
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_down_of_nothing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(WaypostError) as refused:
        stack.down(tmp_path / "parent" / "s")

    assert refused.value.error_code == "stack.nothing_here"
    assert list(tmp_path.iterdir()) == []
