"""Checks files by focus-validator, the FinOps Foundation's own, in an environment of its own.

It needs older versions of pandas and pandera than Waypost. ``make test`` makes the environment;
a test that finds none makes it.
"""

import csv
import subprocess
import sys
from pathlib import Path

from tests.support import source_tree

VERSION = "1.0"
_LOCK = source_tree.ROOT / ".locks" / "focus-validator.txt"
_PLACE = source_tree.ROOT / ".venv" / "focus-validator"
# The rules of focus-validator 1.0.0 have these names of columns for FOCUS 1.0; the specification,
# version 1.0, has ours. Its check of SkuPriceId reads ChargeType, which FOCUS 1.0 calls
# ChargeCategory. So the validator gets a copy with its names.
_NAMES = {
    "InvoiceIssuerName": "InvoiceIssuer",
    "ProviderName": "Provider",
    "PublisherName": "Publisher",
    "ResourceId": "ResourceID",
}


def environment() -> Path:
    """Return the path of the validator's Python; makes its environment once for each lock."""
    stamp, python = _PLACE / "lock", _PLACE / "bin" / "python"
    wanted = _LOCK.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        uv = Path(sys.executable).parent / "uv"
        venv = [uv, "venv", "-q", "--clear", "--no-project", "--python", sys.executable, _PLACE]
        subprocess.run(list(map(str, venv)), check=True)
        install = [uv, "pip", "install", "-q", "--python", python, "--require-hashes", "-r", _LOCK]
        subprocess.run(list(map(str, install)), check=True)
        stamp.write_text(wanted)
    return python


def report(file: Path, folder: Path) -> tuple[bool, str]:
    """Return whether a CSV file is valid by FOCUS 1.0, and the validator's report."""
    copy = folder / "renamed.csv"
    with file.open(newline="") as source, copy.open("w", newline="") as target:
        rows = csv.DictReader(source)
        names = [_NAMES.get(name, name) for name in rows.fieldnames or ()]
        writer = csv.writer(target)
        writer.writerow([*names, "ChargeType"])
        for row in rows:
            writer.writerow([*row.values(), row["ChargeCategory"]])
    python = environment()
    answer = subprocess.run(
        [python.with_name("focus-validator"), "--data-file", copy,
         "--validate-version", VERSION],
        capture_output=True,
        text=True,
        check=False,
        # It looks for its list of currencies below the working directory.
        cwd=next(python.parent.parent.glob("lib/python*/site-packages")),
    )  # fmt: skip
    # It ends with 0 even if the file is not valid.
    is_valid = answer.returncode == 0 and "Validation succeeded." in answer.stdout
    return is_valid, answer.stdout + answer.stderr


if __name__ == "__main__":
    environment()
