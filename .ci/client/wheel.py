"""Build the wheel ``waypost-client`` from controlplane/client.

``make client`` runs it, and a test does so too. It needs setuptools, and no network::

    python .ci/client/wheel.py FOLDER
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]


def main(folder: Path) -> None:
    """Write the wheel into ``folder``, which gets nothing else."""
    version = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]
    with tempfile.TemporaryDirectory() as place:
        source = Path(place)
        shutil.copytree(
            _ROOT / "controlplane/client",
            source / "waypost_client",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copy(_HERE / "pyproject.toml", source)
        shutil.copy(_ROOT / "LICENSE", source)
        (source / "VERSION").write_text(version)
        built = source / "built"
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([*build, "--no-build-isolation", "--wheel-dir", built, source], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
