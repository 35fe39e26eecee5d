"""Runs the commands of pages of docs/, as a reader would copy them: blocks marked `sh`."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from controlplane.embedded import java
from tests.support.source_tree import ROOT

DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def blocks(page: str) -> Sequence[str]:
    """Return the blocks of a page that its reader runs, in order."""
    return _BLOCK.findall((DOCS / page).read_text())


def list_pages() -> list[str]:
    """Return the pages with such blocks that application developers and administrators read."""
    found = [path for part in ("develop", "administer") for path in (DOCS / part).glob("*.md")]
    names = sorted(str(path.relative_to(DOCS)) for path in found)
    return [name for name in names if blocks(name)]


def tools() -> str:
    """Return a PATH with `waypost`, Python with proton, and Java's tools first."""
    folders = [Path(sys.executable).parent, java.home(java.find()) / "bin"]
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def run(
    commands: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Run blocks one after another in one shell; it ends at the first command that fails.

    Returns what they printed, and the variables that the shell had at last.
    """
    left = folder / "environment"
    script = "\n".join(["set -euo pipefail", *commands, f"env -0 > {left}"])
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    pairs = [pair.partition("=") for pair in left.read_text().split("\0") if pair]
    return ran.stdout, {name: value for name, _, value in pairs}
