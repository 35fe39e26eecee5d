"""Files that are written atomically."""

import stat
from pathlib import Path

import pytest

from controlplane.core.files import write_atomically


def test_a_file_is_replaced_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text("old")

    write_atomically(path, "new", mode=0o600)

    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", "text", mode=0o600)

    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "key.pem", "\ud800", mode=0o600)

    assert list(tmp_path.iterdir()) == []
