"""Every `waypost` command that a page of docs/ or the README shows exists, with its options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from controlplane.cli import app
from tests.support import source_tree

PAGES = [
    path
    for path in source_tree.list_files(".md")
    if path.relative_to(source_tree.ROOT).parts[0] in {"docs", "README.md", "CONTRIBUTING.md"}
]
FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", re.M | re.S)
# `waypost … -o json` speaks of any command.
INLINE = re.compile(r"`(waypost [^…`][^`]*)`")
CLI = typer.main.get_command(app.app)


def list_commands(text: str) -> Iterator[str]:
    """Yield the commands of a page: what follows `waypost` in code, in blocks and in sentences."""
    for _, _, block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:\$ )?(?:\w+=\S+\s+)*(?:\S*/)?waypost ([a-z-].*)", line)
            if found:
                yield re.split(r"\s+[>|#&;]", found[1])[0].rstrip(")")
    for shown in INLINE.findall(FENCE.sub("", text)):
        yield " ".join(shown.split()).removeprefix("waypost ")


def problem_of(command: str) -> str:
    """Return what is wrong with a command, or ''. `a|b` in it are alternatives."""
    found: Any = CLI  # a group of commands, or a command
    words = shlex.split(re.sub(r"[\[\]…]", " ", command))
    while words and hasattr(found, "commands") and not words[0].startswith("-"):
        first, *others = re.split(r"[|,]", words.pop(0))
        unknown = [name for name in [first, *others] if name and name not in found.commands]
        if unknown:
            return f"there is no command {unknown[0]}"
        if others:
            return ""
        found = found.commands[first]
    known = {
        option
        for parameter in found.params
        for option in [*parameter.opts, *parameter.secondary_opts]
    }
    known |= {"--help", "-h"}
    given = [word.split("=")[0] for word in words if word.startswith("-") and word != "-"]
    return next((f"{option} is no option" for option in given if option not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(source_tree.ROOT)))
def test_documented_commands_exist(page: Path) -> None:
    problems = {command: problem_of(command) for command in list_commands(page.read_text())}

    assert {command: problem for command, problem in problems.items() if problem} == {}


def test_pages_show_commands() -> None:
    shown = [command for page in PAGES for command in list_commands(page.read_text())]

    assert len(shown) > 60


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```sh\nwaypost spaces make shop\n```\n", "there is no command make"),
        ("```sh\nX=1 \\\n  waypost spaces create shop --size 3 > x\n```\n", "--size is no option"),
        ("Run `waypost spaces list|make`.", "there is no command make"),
        ("Run `waypost spaces create shop --type=brokered`.", ""),
    ],
)
def test_a_wrong_command_is_found(text: str, problem: str) -> None:
    assert [problem_of(command) for command in list_commands(text)] == [problem]
