"""What the tests of this folder look at: the tracked files, and the functions in them."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("controlplane", "tenants", "plans", "workers", "lakehouse")


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


def list_modules() -> list[Path]:
    """Return the product's Python modules without migrations."""
    return [
        path
        for path in list_files(".py")
        if path.relative_to(ROOT).parts[0] in PACKAGES and "migrations" not in path.parts
    ]


def list_functions(path: Path) -> Iterator[Function]:
    """Yield every function of a module, nested ones too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            own = [parameter for parameter in parameters if parameter.arg not in {"self", "cls"}]
            yield Function(
                f"{path.relative_to(ROOT)}:{node.lineno}",
                node.name,
                (node.end_lineno or node.lineno) - node.lineno + 1,
                len(own),
            )
