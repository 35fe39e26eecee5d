"""Find a Java of version 17 or 21, which Artemis, Spark, Ivy and the broker plugin's compiler need.

``.ci/setup`` runs this module to record the JAVA_HOME that it has found.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from controlplane.core.errors import Unavailable

# Spark 4.2 supports 17 and 21; Artemis 2.56 needs at least 17.
SUPPORTED = (17, 21)
_SYSTEM = Path("/usr/lib/jvm")
_VERSION = re.compile(r'version "(\d+)')  # the first number of what ``java -version`` prints


def find(kept: Path | None = None) -> Path:
    """Return the path of the first ``java`` program of a supported version.

    If ``WAYPOST_JAVA`` is set, only that program is considered; otherwise ``kept`` (a program),
    ``JAVA_HOME``, PATH and /usr/lib/jvm, in this order.

    Raises:
        Unavailable: ``java.missing``: there is no Java; ``java.version``: there are only Javas of
            other versions.
    """
    seen = []
    for program in _candidates(kept):
        try:
            version = _ask_version(program.resolve(), program.stat().st_mtime_ns)
        except OSError:  # what a variable names need not exist
            version = None
        if version in SUPPORTED:
            return program
        seen.append(f"{program} is version {version or 'unknown'}")
    wanted = "install openjdk-17-jre-headless or openjdk-21-jre-headless, or set WAYPOST_JAVA"
    if seen:
        raise Unavailable(
            f"Java 17 or 21 is needed, but {'; '.join(seen)}: {wanted}.", code="java.version"
        )
    raise Unavailable(f"Java 17 or 21 is needed and none was found: {wanted}.", code="java.missing")


def home(program: Path) -> Path:
    """Return the JAVA_HOME of the program ``<JAVA_HOME>/bin/java``; follows symbolic links."""
    return program.resolve().parent.parent


def _candidates(kept: Path | None) -> Iterator[Path]:
    if named := os.environ.get("WAYPOST_JAVA"):
        yield Path(named)
        return
    if kept:
        yield kept
    if java_home := os.environ.get("JAVA_HOME"):
        yield Path(java_home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    yield from sorted(_SYSTEM.glob("java-*/bin/java"))


@cache
def _ask_version(program: Path, _changed_at: int) -> int | None:
    """Run ``program`` and return the major version that it reports; None if it reports none.

    The result is kept for the life of this process, because one command needs it several times.
    ``_changed_at`` makes a replaced program run again.
    """
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    # `java -version` writes to stderr.
    found = _VERSION.search(answer.stderr)
    return int(found[1]) if found else None


def main() -> int:
    """Print the JAVA_HOME of ``find()``, or the error; return the exit code for ``.ci/setup``.

    0: found. 1: there are only unsupported versions. 3: there is no Java.
    """
    try:
        print(home(find()))  # noqa: T201  (read by a shell script)
    except Unavailable as error:
        print(error.message)  # noqa: T201
        return 3 if error.error_code == "java.missing" else 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
