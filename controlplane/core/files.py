"""Write files so that no reader sees a part of one.

Used wherever a state is kept in a file: the stored login, an embedded installation, its programs.
"""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str, *, mode: int) -> None:
    """Write ``text`` so that a reader sees the old or the new file, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
