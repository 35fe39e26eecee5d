"""Write a file so that another process reads its old or its new content, never a part.

Used for the stored login of the command, the files of an embedded installation, and the files of
its brokers and routers.
"""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str, *, mode: int) -> None:
    """Create or replace the file ``path`` with the content ``text`` and the permissions ``mode``.

    Other processes see the old or the new file, never a part, also after a crash of the machine.
    The folder must exist.

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
    except BaseException:  # also for a text that cannot be encoded
        os.unlink(temporary)  # else each attempt on a full disk would leave a file
        raise
