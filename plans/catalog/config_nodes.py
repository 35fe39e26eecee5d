"""Typed access to YAML nodes; collects mistakes with their line and field.

Only ``parsing`` uses it. Numbers are parsed from the text of a scalar, never through binary floats.
A reading method that finds a mistake records it and returns a harmless value, so that one pass over
the document finds all mistakes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TypeVar

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from controlplane.core.errors import Invalid

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 20
LARGEST = 2**53  # JSON readers that use doubles represent integers exactly up to here
_WHOLE = re.compile(r"^(0|[1-9][0-9_]*)$")
_DECIMAL_PLACES = 12  # as many as the columns of invoice lines store

T = TypeVar("T")
U = TypeVar("U")


class CatalogInvalid(Invalid):
    """The catalog breaks a rule; nothing was published. Fields: {field: ["line n: reason"]}."""

    code = "catalog.invalid"


@dataclass
class Problems:
    """The mistakes found so far."""

    found: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, line: int, path: str, reason: str) -> None:
        if (line, path, reason) not in self.found:
            self.found.append((line, path, reason))

    def refuse(self) -> None:
        """Raise if any mistake was found.

        Raises:
            CatalogInvalid: the message names the first mistake, the fields hold all of them.
        """
        if not self.found:
            return
        fields: dict[str, list[str]] = {}
        for line, path, reason in sorted(self.found):
            fields.setdefault(path, []).append(f"line {line}: {reason}")
        line, path, _ = min(self.found)
        number = len(self.found)
        count = "a mistake" if number == 1 else f"{number} mistakes, the first"
        refusal = CatalogInvalid(
            f"The catalog has {count} in line {line} ({path}). Nothing was published: fix "
            f"{'it' if number == 1 else 'them'} and publish again."
        )
        refusal.fields = fields  # no keyword arguments: a path may equal a parameter name
        raise refusal


@dataclass(frozen=True)
class ConfigNode:
    """One value in the file: its node (None: absent), its dotted path, and its line."""

    node: Node | None
    path: str
    line: int
    problems: Problems

    def wrong(self, reason: str) -> None:
        """Record a mistake in this value; an absent value is always recorded as missing."""
        path = self.path or "catalog"
        self.problems.add(self.line, path, "is missing" if self.is_absent else reason)

    def text(self, *, longest: int = 200, empty: bool = False) -> str:
        """Return a text of 1 (with ``empty``: 0) to ``longest`` characters, stripped."""
        value = self._scalar()
        if value is None:
            self.wrong("must be a text")
            return ""
        if len(value) > longest or not (value.strip() or empty):
            self.wrong(f"must have {0 if empty else 1} to {longest} characters")
        return value.strip()

    def matching(self, pattern: str, reason: str) -> str:
        """Return a text that matches all of ``pattern``."""
        value = self._scalar() or ""
        if not re.fullmatch(pattern, value):
            self.wrong(reason)
        return value

    def whole(self, *, smallest: int = 0, largest: int = LARGEST) -> int:
        """Return a whole number; underscores may group digits."""
        value = self._scalar() or ""
        # Limit the length first: converting a very long text to int is slow. -1 fails the check.
        number = int(value.replace("_", "")) if _WHOLE.match(value) and len(value) < 30 else -1
        if not smallest <= number <= largest:
            self.wrong(f"must be a whole number from {smallest} to {largest}")
            return smallest
        return number

    def decimal(self, *, largest: Decimal = Decimal(10**12)) -> str:
        """Return a decimal as text: not negative, at most 12 places, no exponent."""
        try:
            number = Decimal(self._scalar() or "?")
        except InvalidOperation:
            number = Decimal("NaN")
        exponent = number.as_tuple().exponent
        # The exponent of NaN and infinity is a letter, not an int.
        if (
            not isinstance(exponent, int)
            or not 0 <= number <= largest
            or -exponent > _DECIMAL_PLACES
        ):
            self.wrong(f"must be a number from 0 to {largest} with at most 12 decimals")
            return "0"
        return format(number, "f")

    def one_of(self, choices: Sequence[str]) -> str:
        """Return one of ``choices``; the first one after a mistake."""
        value = self._scalar() or ""
        if value not in choices:
            self.wrong(f"must be one of {', '.join(choices)}")
            return choices[0]
        return value

    def optional(self, read: Callable[["ConfigNode"], T], default: U) -> T | U:
        """Return what ``read`` returns for this node, or ``default`` if it is absent or null."""
        return default if self.is_absent else read(self)

    def items(self) -> list["ConfigNode"]:
        """Return the nodes of a list; none if the list is absent."""
        if self.is_absent:
            return []
        if not isinstance(self.node, SequenceNode):
            self.wrong("must be a list")
            return []
        return [
            ConfigNode(node, f"{self.path}[{n}]", _line(node), self.problems)
            for n, node in enumerate(self.node.value)
        ]

    def entries(self) -> list[tuple[str, "ConfigNode"]]:
        """Return (key, node) pairs of a mapping in document order; none if it is absent."""
        if self.is_absent:
            return []
        if not isinstance(self.node, MappingNode):
            self.wrong("must be a mapping of names to values")
            return []
        found: dict[str, ConfigNode] = {}
        for key, node in self.node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            config_node = self._part(name, node, _line(key))
            if name in found:
                config_node.wrong("appears twice")
            found[name] = config_node
        return list(found.items())

    def fields(self, *names: str) -> dict[str, "ConfigNode"]:
        """Return the node of each named field, absent ones too; any other field is a mistake."""
        found = dict(self.entries())
        for name, config_node in found.items():
            if name not in names:
                config_node.wrong(f"is unknown; known fields are {', '.join(names)}")
        absent = {name: self._part(name, None, self.line) for name in names}
        return {**absent, **{name: found[name] for name in names if name in found}}

    @property
    def is_absent(self) -> bool:
        return self.node is None or self.node.tag == "tag:yaml.org,2002:null"

    def _part(self, name: str, node: Node | None, line: int) -> "ConfigNode":
        return ConfigNode(node, f"{self.path}.{name}" if self.path else name, line, self.problems)

    def _scalar(self) -> str | None:
        if self.is_absent or not isinstance(self.node, ScalarNode):
            return None
        return str(self.node.value)


def root(yaml_text: str) -> ConfigNode:
    """Return the root node of the document.

    Raises:
        CatalogInvalid: it is not YAML, too long, nested too deeply, or uses anchors.
    """
    problems = Problems()
    if len(yaml_text) > MAX_CHARACTERS:
        problems.add(1, "catalog", f"must have at most {MAX_CHARACTERS:,} characters")
        problems.refuse()
    try:
        node = _compose(yaml_text, problems)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The C parser reports a construct that the end of the text cuts short one line too far.
        last = len((yaml_text + "x").splitlines()) - 1
        line = min(mark.line, last) + 1 if mark else 1
        problems.add(line, "catalog", f"is not YAML: {error.problem}")
    except UnicodeEncodeError as error:  # a lone surrogate, which UTF-8 cannot encode
        line = yaml_text.count("\n", 0, error.start) + 1
        problems.add(line, "catalog", f"is not YAML: {error}")
    except ReaderError as error:
        line = yaml_text.encode()[: error.position].count(b"\n") + 1
        problems.add(line, "catalog", f"is not YAML: {str(error).splitlines()[0]}")
    problems.refuse()
    return ConfigNode(node, "", 1, problems)


def _compose(yaml_text: str, problems: Problems) -> Node | None:
    _require_plain(yaml_text, problems)
    problems.refuse()  # before compose, which would build the harmful tree
    return yaml.compose(yaml_text, Loader=yaml.CSafeLoader)


def _require_plain(yaml_text: str, problems: Problems) -> None:
    """Record the first alias (aliases can expand to gigabytes) or nesting that is too deep."""
    depth = 0
    for event in yaml.parse(yaml_text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.AliasEvent):
            problems.add(_line(event), "catalog", "must not use anchors and aliases")
            return
        if depth > MAX_DEPTH:
            problems.add(_line(event), "catalog", "is nested too deeply")
            return


def _line(part: Node | yaml.Event) -> int:
    return int(part.start_mark.line) + 1 if part.start_mark else 1
