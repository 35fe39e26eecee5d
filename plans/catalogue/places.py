"""YAML with places: reads scalars, lists and mappings, and notes line and field of mistakes.

Only ``parsing`` uses it. Numbers are taken from the text itself, never through binary floats.
A mistake is noted and a harmless value returned, so that one reading finds all of them.
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
LARGEST = 2**53  # what every JSON reader keeps exactly
_WHOLE = re.compile(r"^(0|[1-9][0-9_]*)$")
_DECIMAL_PLACES = 12

T = TypeVar("T")
U = TypeVar("U")


class CatalogueInvalid(Invalid):
    """The catalogue breaks a rule; nothing was published. Fields: {field: ["line n: reason"]}."""

    code = "catalogue.invalid"


@dataclass
class Problems:
    """The mistakes found so far."""

    found: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, line: int, path: str, reason: str) -> None:
        if (line, path, reason) not in self.found:
            self.found.append((line, path, reason))

    def refuse(self) -> None:
        """Return when there are none.

        Raises:
            CatalogueInvalid: there are some; the message tells where the first is.
        """
        if not self.found:
            return
        fields: dict[str, list[str]] = {}
        for line, path, reason in sorted(self.found):
            fields.setdefault(path, []).append(f"line {line}: {reason}")
        line, path, _ = min(self.found)
        number = len(self.found)
        count = "a mistake" if number == 1 else f"{number} mistakes, the first"
        refusal = CatalogueInvalid(
            f"The catalogue has {count} in line {line} ({path}). Nothing was published: mend "
            f"{'it' if number == 1 else 'them'} and publish again."
        )
        refusal.fields = fields  # not as arguments: a path may be called like one of ours
        raise refusal


@dataclass(frozen=True)
class Place:
    """One value in the file: its node (None: absent), its path for people, and its line."""

    node: Node | None
    path: str
    line: int
    problems: Problems

    def wrong(self, reason: str) -> None:
        """Note a mistake in this value; one that is absent is only missing."""
        path = self.path or "catalogue"
        self.problems.add(self.line, path, "is missing" if self.is_absent else reason)

    def text(self, *, longest: int = 200, empty: bool = False) -> str:
        """Return a text of 1 (or 0) to ``longest`` characters."""
        value = self._scalar()
        if value is None:
            self.wrong("must be a text")
            return ""
        if len(value) > longest or not (value.strip() or empty):
            self.wrong(f"must have {0 if empty else 1} to {longest} characters")
        return value.strip()

    def matching(self, pattern: str, reason: str) -> str:
        """Return a text that matches ``pattern`` in whole."""
        value = self._scalar() or ""
        if not re.fullmatch(pattern, value):
            self.wrong(reason)
        return value

    def whole(self, *, smallest: int = 0, largest: int = LARGEST) -> int:
        """Return a whole number; underscores may group digits."""
        value = self._scalar() or ""
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
        places = number.as_tuple().exponent
        if not isinstance(places, int) or not 0 <= number <= largest or -places > _DECIMAL_PLACES:
            self.wrong(f"must be a number from 0 to {largest} with at most 12 decimals")
            return "0"
        return format(number, "f")

    def one_of(self, choices: Sequence[str]) -> str:
        """Return one of ``choices``; the first stands in for anything else."""
        value = self._scalar() or ""
        if value not in choices:
            self.wrong(f"must be one of {', '.join(choices)}")
            return choices[0]
        return value

    def optional(self, read: Callable[["Place"], T], default: U) -> T | U:
        """Return what ``read`` makes of it, or ``default`` when it is absent or null."""
        return default if self.is_absent else read(self)

    def items(self) -> list["Place"]:
        """Return the places of a list; an absent one is empty."""
        if self.is_absent:
            return []
        if not isinstance(self.node, SequenceNode):
            self.wrong("must be a list")
            return []
        return [
            Place(node, f"{self.path}[{n}]", _line(node), self.problems)
            for n, node in enumerate(self.node.value)
        ]

    def entries(self) -> list[tuple[str, "Place"]]:
        """Return (key, place) of a mapping in its order; an absent one is empty."""
        if self.is_absent:
            return []
        if not isinstance(self.node, MappingNode):
            self.wrong("must be a mapping of names to values")
            return []
        found: dict[str, Place] = {}
        for key, node in self.node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            place = self._part(name, node, _line(key))
            if name in found:
                place.wrong("is there twice")
            found[name] = place
        return list(found.items())

    def fields(self, *names: str) -> dict[str, "Place"]:
        """Return the place of each named field, absent ones too; any other field is a mistake."""
        found = dict(self.entries())
        for name, place in found.items():
            if name not in names:
                place.wrong(f"is not known here; known are {', '.join(names)}")
        absent = {name: self._part(name, None, self.line) for name in names}
        return {**absent, **{name: found[name] for name in names if name in found}}

    @property
    def is_absent(self) -> bool:
        return self.node is None or self.node.tag == "tag:yaml.org,2002:null"

    def _part(self, name: str, node: Node | None, line: int) -> "Place":
        return Place(node, f"{self.path}.{name}" if self.path else name, line, self.problems)

    def _scalar(self) -> str | None:
        if self.is_absent or not isinstance(self.node, ScalarNode):
            return None
        return str(self.node.value)


def root(yaml_text: str) -> Place:
    """Return the place of the whole document.

    Raises:
        CatalogueInvalid: it is no YAML, too long, too deep, or uses anchors.
    """
    problems = Problems()
    if len(yaml_text) > MAX_CHARACTERS:
        problems.add(1, "catalogue", f"must have at most {MAX_CHARACTERS:,} characters")
        problems.refuse()
    try:
        node = _compose(yaml_text, problems)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The C parser finds what is missing at the end one line later.
        last = len((yaml_text + "x").splitlines()) - 1
        line = min(mark.line, last) + 1 if mark else 1
        problems.add(line, "catalogue", f"is no YAML: {error.problem}")
    except UnicodeEncodeError as error:
        line = yaml_text.count("\n", 0, error.start) + 1
        problems.add(line, "catalogue", f"is no YAML: {error}")
    except ReaderError as error:
        line = yaml_text.encode()[: error.position].count(b"\n") + 1
        problems.add(line, "catalogue", f"is no YAML: {str(error).splitlines()[0]}")
    problems.refuse()
    return Place(node, "", 1, problems)


def _compose(yaml_text: str, problems: Problems) -> Node | None:
    _require_plain(yaml_text, problems)
    problems.refuse()
    return yaml.compose(yaml_text, Loader=yaml.CSafeLoader)


def _require_plain(yaml_text: str, problems: Problems) -> None:
    """Note, at its first event, what could stand for gigabytes or exhaust the stack."""
    depth = 0
    for event in yaml.parse(yaml_text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.AliasEvent):
            problems.add(_line(event), "catalogue", "must not use anchors and aliases")
            return
        if depth > MAX_DEPTH:
            problems.add(_line(event), "catalogue", "is nested too deeply")
            return


def _line(part: Node | yaml.Event) -> int:
    return int(part.start_mark.line) + 1 if part.start_mark else 1
