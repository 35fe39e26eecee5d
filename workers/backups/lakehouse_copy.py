"""Copy the lakehouse's folder as it was at an instant, while others go on writing to it.

Delta tables only add files. A table's state at a version is what the entries of its log up to this
version name. So entries of later versions are left out, and files that only they name do no harm.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from workers.metering import delta

_LOG = "_delta_log"
# 00000000000000000007.json, and ….checkpoint.parquet, also in parts (Delta protocol, "File types").
_ENTRY = re.compile(r"(\d{20})\.")
_HINT = "_last_checkpoint"  # may name a later checkpoint; readers do without it


def copy(root: Path, target: Path, versions: Mapping[str, int]) -> None:
    """Copy the folder ``root`` to the new folder ``target``, each table at its version.

    ``versions``: table -> version, for each table that existed at the instant.

    Raises:
        OSError: a file cannot be read or written.
    """
    logs = {root / delta.FOLDERS[name] / _LOG: version for name, version in versions.items()}

    def left_out(folder: str, found: list[str]) -> set[str]:
        path = Path(folder)
        if path.name == _LOG:
            # A table that did not exist at the instant has no version: nothing of its log.
            last = logs.get(path, -1)
            return {name for name in found if name == _HINT or _version(name) > last}
        # Temporary files of processes that write now begin so.
        return {name for name in found if name.startswith((".", "_temporary"))}

    shutil.copytree(root, target, ignore=left_out, copy_function=_copy_if_there)


def _version(name: str) -> int:
    """Return the table version that a file of a log belongs to; -1 for a file without a version."""
    match = _ENTRY.match(name)
    return int(match[1]) if match else -1


def _copy_if_there(source: str, target: str) -> str:
    """Copy a file; leave out a temporary one that was renamed after the folder was listed."""
    try:
        return str(shutil.copyfile(source, target))
    except FileNotFoundError:
        return target
