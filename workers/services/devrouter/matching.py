"""Which configured name covers an address, and which permission covers an attach. Pure.

Two notations that must not be mixed: the router's own prefixes and patterns (tokens end at ``.`` or
``/``, as in Dispatch) and the permissions of a messaging user (levels end at ``/`` only).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
_SEPARATORS = re.compile(r"[./]")


def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of an address or pattern; leading separators do not count."""
    return tuple(_SEPARATORS.split(text.lstrip("./")))


def of_prefix(prefix: str) -> tuple[str, ...]:
    """Return the pattern of a prefix: itself and everything below it."""
    return (*tokens(prefix), "#")


@dataclass
class PatternTable(Generic[Item]):
    """Patterns with what they stand for. ``find`` prefers literal over ``*`` over ``#``."""

    _items: dict[tuple[str, ...], Item] = field(default_factory=dict)

    def add(self, pattern: tuple[str, ...], item: Item) -> bool:
        """Add and return True, or return False when the same pattern is there already."""
        if pattern in self._items:
            return False
        self._items[pattern] = item
        return True

    def remove(self, pattern: tuple[str, ...]) -> None:
        self._items.pop(pattern, None)

    def find(self, address: str) -> Item | None:
        """Return what the most specific matching pattern stands for."""
        wanted = tokens(address)
        exact = self._items.get(wanted)
        if exact is not None:
            return exact
        found = [pattern for pattern in self._items if _covers(pattern, wanted)]
        return self._items[min(found, key=_generality)] if found else None


def _generality(pattern: tuple[str, ...]) -> tuple[tuple[int, ...], int]:
    ranks = tuple({"*": 1, "#": 2}.get(token, 0) for token in pattern)
    return ranks, -len(pattern)


def _covers(pattern: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not pattern:
        return not wanted
    if pattern[0] == "#":
        return any(_covers(pattern[1:], wanted[skip:]) for skip in range(len(wanted) + 1))
    return bool(wanted) and pattern[0] in ("*", wanted[0]) and _covers(pattern[1:], wanted[1:])


def is_permitted(permissions: Mapping[str, Iterable[str]], operation: str, address: str) -> bool:
    """Return whether one of ``permissions`` ({pattern: operations}) grants the attach.

    ``*`` stands for one level, ``#`` for the rest and nothing: ``a/#`` grants ``a`` and ``a/b``,
    never ``ab``. Who may receive from a topic may use its subscriptions (``topic::name``). A
    wildcard in the address asks for all it stands for, so ``a/*`` does not grant ``a/#``.
    """
    levels = tuple(address.split("::", 1)[0].split("/"))
    return any(
        operation in operations and _grants(tuple(pattern.split("/")), levels)
        for pattern, operations in permissions.items()
    )


def _grants(pattern: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    if pattern and pattern[0] == "#":
        return True
    if not pattern or not asked:
        return not pattern and not asked
    if asked[0] == "#" or (asked[0] in ("*", "+") and pattern[0] != "*"):
        return False
    return pattern[0] in ("*", asked[0]) and _grants(pattern[1:], asked[1:])
