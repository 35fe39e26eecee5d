"""What the tests of this folder look at: the tracked files, and the functions in them."""

import ast
import functools
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("controlplane", "tenants", "plans", "workers", "lakehouse")
# What `make client` generates; the wheel `waypost-client` holds it too.
CLIENT = ROOT / "controlplane" / "client"
# Packages and modules that the images lack.
LEFT_OUT: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["waypost"][
    "not-in-production"
]


@dataclass(frozen=True)
class Function:
    """One function or method: where, how long, how many parameters."""

    place: str
    name: str
    n_lines: int
    n_parameters: int


def list_files(*suffixes: str) -> list[Path]:
    """Return the files that are or could be committed, with one of the suffixes if any given."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = [ROOT / name for name in listed]
    return [path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes)]


def list_written(*suffixes: str) -> list[Path]:
    """Return the files of ``list_files`` that people write: without the generated client."""
    return [path for path in list_files(*suffixes) if not path.is_relative_to(CLIENT)]


def list_modules() -> list[Path]:
    """Return the product's Python modules without migrations and without the generated client."""
    return [
        path
        for path in list_written(".py")
        if path.relative_to(ROOT).parts[0] in PACKAGES and "migrations" not in path.parts
    ]


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module; one tree for all tests, which must not change it."""
    return ast.parse(path.read_text())


@functools.cache
def list_functions(path: Path) -> tuple[Function, ...]:
    """Return every function of a module, nested ones too."""
    return tuple(_functions(path))


def _functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            own = [parameter for parameter in parameters if parameter.arg not in {"self", "cls"}]
            yield Function(
                f"{path.relative_to(ROOT)}:{node.lineno}",
                node.name,
                (node.end_lineno or node.lineno) - node.lineno + 1,
                len(own),
            )


def module_name(path: Path) -> str:
    """Return the dotted name of a module of the product."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def is_left_out(path: Path) -> bool:
    """Return whether the images lack this file of the product."""
    name = module_name(path)
    return any(name == module or name.startswith(f"{module}.") for module in LEFT_OUT)


def list_production_files() -> list[str]:
    """Return the paths of all files of the product that an image holds."""
    return [
        str(path.relative_to(ROOT))
        for path in list_files()
        if path.relative_to(ROOT).parts[0] in PACKAGES and not is_left_out(path)
    ]


def locked_versions(lock: str) -> dict[str, set[str]]:
    """Return the versions of each package in a lock; one package may have one for each Python."""
    versions: dict[str, set[str]] = {}
    text = (ROOT / ".locks" / f"{lock}.txt").read_text()
    for package, version in re.findall(r"^([a-z0-9][^\s=\[]*)\S*==(\S+)", text, re.M):
        versions.setdefault(package, set()).add(version)
    return versions
