"""Choose what a wheel holds; everything else about the build is in ``pyproject.toml``.

With ``WAYPOST_WHEEL=production`` a wheel leaves out the packages and modules that
``pyproject.toml`` lists as ``not-in-production``. The Containerfile of the control plane builds
such a wheel. Any other build, an editable one too, holds everything.
"""

import os
import tomllib
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

_PROJECT = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())
_TOP_LEVEL = ("controlplane", "tenants", "plans", "workers", "lakehouse")
_WHEELS = {"": [], "production": _PROJECT["tool"]["waypost"]["not-in-production"]}
# A value that is not listed ends the build with a KeyError.
_LEFT_OUT = _WHEELS[os.environ.get("WAYPOST_WHEEL", "")]


class SelectedModules(build_py):
    """Copies the modules of the chosen packages, without the single modules that are left out."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if f"{each[0]}.{each[1]}" not in _LEFT_OUT]


setup(
    cmdclass={"build_py": SelectedModules},
    # Namespace packages too: folders of templates and of static files are no Python packages.
    packages=find_namespace_packages(
        include=[pattern for name in _TOP_LEVEL for pattern in (name, f"{name}.*")],
        exclude=[pattern for name in _LEFT_OUT for pattern in (name, f"{name}.*")],
    ),
)
