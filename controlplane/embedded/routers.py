"""Find the real router (Qpid Dispatch) of embedded installations, and install a built one.

No package registry carries Qpid Dispatch, so an operator builds it once. Then
``python -m controlplane.embedded.routers <folder>`` (``make router FROM=<folder>``) copies the
router's run-time files into the cache, beside the other servers. ``installation`` and tests look
for the router with ``find``. Without a real router, the development router runs instead.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from controlplane.core.errors import Invalid, Unavailable
from controlplane.embedded import artifacts

NAME = "qdrouterd"
# Value of WAYPOST_ROUTER that selects the development router even if a real one is installed.
DEVELOPMENT = "development"
# Each of our patches leaves a string "waypost:<name>" in the program.
_PATCH = re.compile(rb"waypost:([a-z-]+)\0")
_PROGRAM = "bin/qdrouterd.bin"
# The router embeds the system's Python, which must not import modules of a virtual environment.
_WRAPPER = """#!/bin/sh
here={here}
unset PYTHONHOME VIRTUAL_ENV
export PYTHONPATH="$here/python:$here/packages" LD_LIBRARY_PATH="$here/lib"
exec "$here/{program}" -I "$here/python" "$@"
"""


@dataclass(frozen=True)
class RouterBuild:
    """The paths of the files that a router needs at run time, where its build installed them.

    ``packages`` are eggs, folders or modules of Python.
    """

    program: Path
    modules: Path
    packages: Sequence[Path]
    libraries: Sequence[Path]

    @classmethod
    def found_in(cls, prefix: Path) -> Self:
        """Find the files below ``prefix``, the folder that the router's build installed it into.

        Raises:
            Invalid: ``router.not_here``: the folder holds no complete router.
        """

        def first(*names: str) -> Path | None:
            return next((prefix / name for name in names if (prefix / name).exists()), None)

        program = first("sbin/qdrouterd", "bin/qdrouterd")
        # Distributions differ in where they put libraries of 64 bits.
        modules = first("lib/qpid-dispatch/python", "lib64/qpid-dispatch/python")
        # The Python package is an egg, or a folder and a module beside it.
        packages = list(prefix.glob("**/python3*/*-packages/qpid_dispatch-*.egg"))
        for module in prefix.glob("**/python3*/*-packages/**/qpid_dispatch_site.py"):
            packages += [module, module.parent / "qpid_dispatch"]
        if program is None or modules is None or not packages:
            raise Invalid(
                f"{prefix} holds no complete Qpid Dispatch: it must be the folder that the router "
                "and Qpid Proton were installed into (sbin/qdrouterd, lib/qpid-dispatch/python and "
                "the Python package qpid_dispatch below it).",
                code="router.not_here",
            )
        libraries = sorted(prefix.glob("lib*/**/libqpid-proton*.so.*"))
        return cls(program, modules, packages, libraries)

    def digest(self) -> str:
        """Return a hash of program, libraries, Python modules and wrapper, as 16 hex digits."""
        # The wrapper is included, so that the same build is copied again with a changed wrapper.
        total = hashlib.sha256(_WRAPPER.encode())
        for file in (self.program, *self.libraries, *sorted(self.modules.rglob("*.py"))):
            total.update(file.read_bytes())
        return total.hexdigest()[:16]

    def copy_to(self, made: Path) -> None:
        """Copy the files into the new folder ``made``, in the layout that the wrapper expects."""
        (made / "bin").mkdir(parents=True)
        shutil.copy2(self.program, made / _PROGRAM)
        shutil.copytree(self.modules, made / "python", ignore=shutil.ignore_patterns("__pycache__"))
        (made / "lib").mkdir()
        for library in self.libraries:
            shutil.copy2(library, made / "lib" / library.name)
        (made / "packages").mkdir()
        for package in self.packages:
            # Unpacked: only the folder `packages`, and no egg in it, is on the wrapper's
            # PYTHONPATH.
            if package.suffix == ".egg" and package.is_file():
                shutil.unpack_archive(package, made / "packages", format="zip")
            elif package.is_dir():
                shutil.copytree(package, made / "packages" / package.name)
            else:
                shutil.copy2(package, made / "packages" / package.name)


def find(cache: Path, named: str | None = None, *, path: str | None = None) -> Path | None:
    """Return the path of the real router's command; None means the development router.

    If ``named`` is given, it decides: the path of a command, or ``development``. Otherwise the
    result is the router that ``install`` put into ``cache``, else ``qdrouterd`` in the folders of
    ``path`` (default: PATH), else None.

    Raises:
        Unavailable: ``router.missing``: ``named`` is not an executable file.
    """
    if named == DEVELOPMENT:
        return None
    if named:
        if not os.access(named, os.X_OK):
            raise Unavailable(
                f"There is no router at {named}: set WAYPOST_ROUTER to an executable {NAME}, or to "
                f"{DEVELOPMENT}.",
                code="router.missing",
            )
        return Path(named)
    kept = cache / "router" / NAME
    if kept.is_file():
        return kept
    found = shutil.which(NAME, path=path)
    return Path(found) if found else None


def install(prefix: Path, cache: Path) -> Path:
    """Copy a built router from ``prefix`` into ``cache``; return the path of its command there.

    Idempotent: the same build is copied once. Another build takes the place of the former command
    by one rename, and the former files stay for routers that run from them.

    Raises:
        Invalid: ``router.not_here``: ``prefix`` holds no complete router.
        Unavailable: ``router.broken``: the router does not start on this machine.
    """
    build = RouterBuild.found_in(prefix)
    folder = cache / "router" / build.digest()
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = Path(scratch) / "made"
            build.copy_to(made)
            # The wrapper holds absolute paths: first the temporary ones for the test, then the
            # final ones.
            _write_wrapper(made, runs_in=made)
            try:
                _version(made / NAME)
            except subprocess.CalledProcessError as error:
                lines = str(error.stderr).strip().splitlines()
                raise Unavailable(
                    f"The router does not start here: {lines[-1] if lines else error}. It needs "
                    "the libraries that it was built with: Python, OpenSSL, Cyrus SASL, "
                    "libwebsockets.",
                    code="router.broken",
                ) from None
            _write_wrapper(made, runs_in=folder)
            made.rename(folder)
    link = cache / "router" / NAME
    # A symbolic link cannot be changed atomically, but a rename can replace it.
    fresh = link.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder / NAME)
    fresh.replace(link)
    return link


def list_patches(command: Path) -> Sequence[str]:
    """Return the sorted names of Waypost's patches in the program that ``command`` starts.

    The names are read from the program's file. Empty for a router that ``install`` has not copied,
    whatever its patches.
    """
    program = command.resolve().parent / _PROGRAM
    text = program.read_bytes() if program.is_file() else b""
    return sorted({name.decode() for name in _PATCH.findall(text)})


def describe(command: Path) -> str:
    """Return a text with the version of the router and the Waypost patches that it has.

    Runs ``command`` to ask for the version; if it does not start, the text says so instead. Only a
    router that ``install`` copied shows its patches. For any other the text says that it has none.
    """
    patches = ", ".join(list_patches(command)) or "none of Waypost's patches"
    try:
        version = f"Qpid Dispatch {_version(command)}"
    except (subprocess.CalledProcessError, OSError):
        version = "a router that does not start"
    return f"{version} with {patches}"


def _write_wrapper(folder: Path, *, runs_in: Path) -> None:
    wrapper = folder / NAME
    wrapper.write_text(_WRAPPER.format(here=runs_in, program=_PROGRAM))
    wrapper.chmod(0o755)


def _version(command: Path) -> str:
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> int:
    """Install the router from the folder in the first argument; return the exit code.

    0: installed. 1: it cannot be installed; stderr says why. 2: the argument is missing.
    """
    if len(sys.argv) != 2:
        sys.stderr.write("usage: make router FROM=<the folder a built router was installed into>\n")
        return 2
    try:
        command = install(Path(sys.argv[1]).absolute(), artifacts.cache_dir())
    except (Invalid, Unavailable) as error:
        sys.stderr.write(f"router: {error}\n")
        return 1
    sys.stdout.write(f"router: {describe(command)}: {command}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
