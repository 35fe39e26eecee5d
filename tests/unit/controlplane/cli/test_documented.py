"""docs/cli.md names every command and every option of its own, and nothing that is not there."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main
from rich.text import Text

from controlplane.cli.app import app
from controlplane.core.address_types import SETTINGS
from tests.support import source_tree

PAGE = (source_tree.ROOT / "docs" / "cli.md").read_text()
# Options of many commands, which the page describes once.
COMMON = {
    *("--help", "-h", "--tenant", "-t", "--output", "-o", "--no-wait", "--yes", "-y", "--state"),
    *("--filter", "--watch", "--install-completion", "--show-completion"),
}
# The registry generates these, and `waypost addresses create -h` lists them.
SETTING_FLAGS = {f"--{setting.name.replace('_', '-')}" for setting in SETTINGS}


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands((*words, name), inner)


COMMANDS = dict(_commands((), typer.main.get_command(app)))


def test_no_help_text_loses_what_is_in_brackets() -> None:
    """Rich takes unescaped brackets for markup and shows nothing of them."""
    texts = [
        text
        for command in COMMANDS.values()
        for text in [command.help, *(getattr(row, "help", None) for row in command.params)]
        if text
    ]

    lost = [text for text in texts if Text.from_markup(text).plain != text.replace("\\[", "[")]

    assert lost == []


def _row(words: tuple[str, ...]) -> str:
    """Return the rows of the table of commands that name a command of ``words``."""
    rows = [row for row in PAGE.splitlines() if row.startswith("| `waypost ")]
    return "\n".join(row for row in rows if _names(row.split(" | ")[0], words))


def _names(cell: str, words: tuple[str, ...]) -> bool:
    """Return whether the first cell of a row, such as ``waypost a b\\|c``, names ``words``."""
    for code in re.findall(r"`([^`]+)`", cell.replace("\\|", "|")):
        typed = code.removeprefix("waypost ").split()
        choices = [word.strip(",").split("|") for word in typed[: len(words)]]
        if len(choices) == len(words) and all(
            word in choice for word, choice in zip(words, choices, strict=True)
        ):
            return True
    return False


def test_each_command_has_a_row() -> None:
    assert not [" ".join(words) for words in COMMANDS if words and not _row(words)]


def test_each_option_is_named_in_the_row_of_its_command() -> None:
    assert not {
        f"{' '.join(words)} {flag}"
        for words, command in COMMANDS.items()
        for param in command.params
        if param.param_type_name == "option"
        for flag in param.opts
        if flag.startswith("--") and flag not in COMMON | SETTING_FLAGS
        if flag not in (_row(words) if words else PAGE)
    }


def test_each_row_is_a_command() -> None:
    rows = re.findall(r"^\| `waypost ([^`]+)`", PAGE, re.MULTILINE)
    for row in rows:
        words = row.replace("\\|", "|").split()
        first, nouns = words[0], {words[0] for words in COMMANDS if words}
        assert first.strip(",") in nouns, row
        group = COMMANDS[(first.strip(","),)]
        if "|" in (words[1] if len(words) > 1 else "") and hasattr(group, "commands"):
            assert set(words[1].split("|")) <= set(group.commands), row


def test_common_options_are_described() -> None:
    assert not {flag for flag in COMMON if f"`{flag}" not in PAGE}
