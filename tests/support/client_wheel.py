"""A fresh virtual environment with the wheel `waypost-client` and what the wheel requires."""

import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.source_tree import ROOT


def install(folder: Path) -> Path:
    """Build the wheel, install it into a new environment, and return the Python of that.

    What it requires comes from the environment of the tests, so that no index is asked.
    """
    wheels, environment = folder / "wheels", folder / "environment"
    _run(sys.executable, ROOT / ".ci/client/wheel.py", wheels)
    venv.create(environment)
    python = environment / "bin/python"
    (wheel,) = wheels.glob("*.whl")
    uv = Path(sys.executable).parent / "uv"
    _run(uv, "pip", "install", "--offline", "--python", python, "--no-deps", wheel)
    (packages,) = environment.glob("lib/python*/site-packages")
    (about,) = packages.glob("waypost_client-*.dist-info")
    for required in _closure(metadata.PathDistribution(about)):
        _link(required, packages)
    return python


def sources(package: Path) -> dict[str, str]:
    """Return {path: text} of the files of a package."""
    return {
        str(path.relative_to(package)): path.read_text()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _closure(distribution: metadata.Distribution) -> list[metadata.Distribution]:
    """Return what a distribution requires, and what that requires, and so on."""
    found: dict[str, metadata.Distribution] = {}
    left = [distribution]
    while left:
        for line in left.pop().requires or []:
            requirement = Requirement(line)
            is_wanted = not requirement.marker or requirement.marker.evaluate({"extra": ""})
            if is_wanted and requirement.name not in found:
                found[requirement.name] = metadata.distribution(requirement.name)
                left.append(found[requirement.name])
    return list(found.values())


def _link(distribution: metadata.Distribution, packages: Path) -> None:
    """Make a distribution of the tests' environment importable from ``packages``."""
    for name in {file.parts[0] for file in distribution.files or [] if file.parts[0] != ".."}:
        target = packages / name
        if not target.exists():
            target.symlink_to(Path(str(distribution.locate_file(name))))
