"""Write files so that no reader sees a part of one.

Used wherever a state is kept in a file: the stored login, an embedded installation, its programs.
"""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str, *, mode: int) -> None:
    """Write ``text`` so that a reader sees the old or the new file, never a part.

    Raises:
        OSError: the file cannot be written; the old one stays.
    """
    # Nobody but the owner can read the new file, not even before it has its mode.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)  # else each attempt on a full disk would leave a file
        raise
