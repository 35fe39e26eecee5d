"""The SHA-256 of each file of the bronze table: recorded at landing, compared by a verification.

A hash of the values of samples (``sample_hash``) shows that a value was changed. This one shows
that any byte of a file was changed, and works for files that cannot be read any more. Whatever
writes files into the table records them, compactions too.
"""

import hashlib
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from plans.invoicing.findings import FileCheck
from workers.metering import bronze, roots
from workers.metering.roots import Root
from workers.models import FileHash

_BLOCK = 1 << 20  # bytes
_AT_ONCE = 1000  # paths in one query


def record(path: str, content: bytes) -> None:
    """Record the hash of the file ``path``, relative to the table; do nothing if it has one."""
    row = FileHash(path=path, sha256=sha256(content))
    FileHash.objects.bulk_create([row], ignore_conflicts=True)


def sha256(content: bytes) -> str:
    """Return the hash of a file's bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


@roots.translated_errors()
def check(root: Root, table: DeltaTable, until: date) -> FileCheck:
    """Compare the files of ``table`` for days up to ``until`` with their recorded hashes.

    ``table`` is the bronze table at the pinned version. Whole files are read.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    paths = sorted(
        unquote(action["path"])
        for action in pa.table(table.get_add_actions(flatten=True)).to_pylist()
        if action["partition.date"] <= until
    )
    known = recorded(paths)
    altered, missing = list[str](), list[str]()
    open_file = roots.reader(root)
    for path in paths:
        if path not in known:
            continue  # nothing to compare with; ``FileCheck`` counts it
        try:
            found = _sha256(open_file(f"{bronze.TABLE}/{path}"))
        except FileNotFoundError:
            missing.append(path)
            continue
        if found != known[path]:
            altered.append(path)
    n_same = len(known) - len(altered) - len(missing)
    return FileCheck(n_same, tuple(altered), tuple(missing), len(paths) - len(known))


def recorded(paths: Sequence[str]) -> dict[str, str]:
    """Return {path: hash} of those ``paths`` that have a recorded hash."""
    found: dict[str, str] = {}
    for first in range(0, len(paths), _AT_ONCE):
        rows = FileHash.objects.filter(path__in=paths[first : first + _AT_ONCE])
        found |= dict(rows.values_list("path", "sha256"))
    return found


def _sha256(file: Any) -> str:
    digest = hashlib.sha256()
    with file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
