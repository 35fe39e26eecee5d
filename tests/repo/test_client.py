"""The client of the API: it is what the generator makes of the document, and needs little."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import client_wheel, source_tree

TOOLS = source_tree.ROOT / ".ci/client"
GENERATOR = source_tree.ROOT / ".venv/generator/bin"


@pytest.mark.slow
def test_it_is_what_the_generator_makes_of_the_document(tmp_path: Path) -> None:
    """After a change of the API, `make openapi` generates it again."""
    made = tmp_path / "client"

    subprocess.run(
        [
            *(GENERATOR / "python", TOOLS / "generate.py"),
            *(source_tree.ROOT / "docs/openapi.json", made),
        ],
        env={**os.environ, "PATH": f"{GENERATOR}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )

    assert len(client_wheel.sources(made)) > 300
    assert client_wheel.sources(made) == client_wheel.sources(source_tree.CLIENT)


def test_the_generator_has_a_lock_of_its_own() -> None:
    assert "openapi-python-client" in source_tree.locked_versions("client")


def imported(package: Path) -> set[str]:
    """Return the top-level names that a package imports, without its own."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module.partition(".")[0])
    return found


def test_it_needs_httpx_and_attrs_only() -> None:
    project = tomllib.loads((TOOLS / "pyproject.toml").read_text())["project"]
    required = {line.partition(">")[0] for line in project["dependencies"]}

    assert imported(source_tree.CLIENT) - sys.stdlib_module_names == {"attrs", "httpx"}
    assert required == {"attrs", "httpx"}
