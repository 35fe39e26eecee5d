"""Reads a YAML document into plain values and remembers the line of each.

Scalars other than null stay text, so that no number passes through a binary float and the country
``NO`` does not become the boolean false. Long texts, aliases and deep nesting are refused before a
tree of nodes is built.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from controlplane.core.errors import Invalid

MAX_CHARACTERS = 1_000_000  # of a document
MAX_DEPTH = 20  # levels of nesting

Path = tuple[str | int, ...]


class CatalogInvalid(Invalid):
    """The text is not YAML or breaks a rule of the catalog, so it was not published.

    ``fields`` holds all mistakes: {dotted field: ["line n: reason", ...]}.
    """

    code = "catalog.invalid"


@dataclass
class Problems:
    """Collects the mistakes in a catalog, each once; ``refuse`` raises all of them as one error.

    ``found`` holds (line, dotted field, reason) of each mistake.
    """

    found: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, line: int, path: str, reason: str) -> None:
        if (line, path, reason) not in self.found:
            self.found.append((line, path, reason))

    def refuse(self) -> None:
        """Raise if any mistake was added; otherwise do nothing.

        Raises:
            CatalogInvalid: the message names the mistake in the lowest line, ``fields`` has all.
        """
        if not self.found:
            return
        fields: dict[str, list[str]] = {}
        for line, path, reason in sorted(self.found):
            fields.setdefault(path, []).append(f"line {line}: {reason}")
        line, path, reason = min(self.found)
        number = len(self.found)
        count = "a mistake" if number == 1 else f"{number} mistakes, the first"
        refusal = CatalogInvalid(
            f"The catalog has {count} in line {line} ({path}): it {reason}. Nothing was published: "
            f"fix {'it' if number == 1 else 'them'} and publish again."
        )
        refusal.fields = fields  # no keyword arguments: a path may equal a parameter name
        raise refusal


@dataclass
class YamlDocument:
    """A parsed YAML document; ``YamlDocument.read`` makes one.

    ``content`` consists of mappings, lists, texts and None. ``lines`` is the line, from 1, of the
    value at each path in ``content``. ``problems`` collects mistakes; the caller adds its own and
    calls ``problems.refuse``.
    """

    content: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)

    @classmethod
    def read(cls, text: str) -> "YamlDocument":
        """Return the document of a YAML text; its ``content`` is None for an empty text.

        A key that appears twice is only added to ``problems``, which the caller must refuse.

        Raises:
            CatalogInvalid: the text is not YAML, too long, nested too deeply, or has an alias.
        """
        made = cls()
        node = made.compose(text)
        made.problems.refuse()
        made.content = made.value_of(node, (), 1) if node is not None else None
        return made

    def line_of(self, path: Path) -> int:
        """Return the line of the value at ``path``, or of the innermost value that contains it."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)

    def compose(self, text: str) -> Node | None:
        """Return the tree of YAML nodes of ``text``; None for an empty text.

        Raises nothing for a wrong text: adds the mistake to ``problems`` and returns None.
        """
        if len(text) > MAX_CHARACTERS:
            self.problems.add(1, "catalog", f"must have at most {MAX_CHARACTERS:,} characters")
            return None
        try:
            self.require_plain(text)
            # No tree after a mistake: expanding it could exhaust the memory or the stack.
            return None if self.problems.found else yaml.compose(text, Loader=yaml.CSafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            # If the text ends inside a construct, the C parser reports one line too many.
            last = len((text + "x").splitlines()) - 1
            line = min(mark.line, last) + 1 if mark else 1
            self.problems.add(line, "catalog", f"is not YAML: {error.problem}")
        except UnicodeEncodeError as error:  # a lone surrogate, which UTF-8 cannot encode
            line = text.count("\n", 0, error.start) + 1
            self.problems.add(line, "catalog", f"is not YAML: {error}")
        except ReaderError as error:
            line = text.encode()[: error.position].count(b"\n") + 1
            self.problems.add(line, "catalog", f"is not YAML: {str(error).splitlines()[0]}")
        return None

    def require_plain(self, text: str) -> None:
        """Add a mistake to ``problems`` at the first alias or nesting deeper than ``MAX_DEPTH``.

        Builds no tree of nodes, because a few nested aliases can expand to gigabytes.

        Raises:
            yaml.YAMLError, UnicodeEncodeError: the text is not YAML.
        """
        depth = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                self.problems.add(line, "catalog", "must not use anchors and aliases")
                return
            if depth > MAX_DEPTH:
                self.problems.add(line, "catalog", "is nested too deeply")
                return

    def value_of(self, node: Node, path: Path, line: int) -> Any:
        """Return the plain value of ``node``; store ``line`` and the lines of all values inside.

        Of a key that appears twice the last value counts, and ``problems`` gets a mistake.
        """
        self.lines[path] = line
        if isinstance(node, ScalarNode):
            # Only a plain ``null``, ``~`` or nothing has this tag; a quoted one is a text.
            return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)
        if isinstance(node, SequenceNode):
            return [
                self.value_of(item, (*path, n), item.start_mark.line + 1)
                for n, item in enumerate(node.value)
            ]
        found: dict[str, Any] = {}
        assert isinstance(node, MappingNode)  # YAML has no other kind
        for key, value in node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            # The recorded line of a value is that of its key, where a person looks for it.
            key_line = key.start_mark.line + 1
            if name in found:
                self.problems.add(key_line, dotted((*path, name)), "appears twice")
            found[name] = self.value_of(value, (*path, name), key_line)
        return found


def dotted(path: Path) -> str:
    """Return a path as people write it: ``plans.team.space_plans[0]``; ``catalog`` for ()."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "catalog"


def at(content: Any, path: Path) -> Any:
    """Return the value at ``path`` in nested mappings and lists; None if there is none."""
    for part in path:
        if isinstance(content, Mapping):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int) and part < len(content):
            content = content[part]
        else:
            return None
    return content
