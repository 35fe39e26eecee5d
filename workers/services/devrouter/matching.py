"""Which configured name covers an address, and which permission covers an attach. Pure.

Two notations that must not be mixed: the router's own prefixes and patterns (tokens end at ``.`` or
``/``) and what the auth service grants (names). Both as in Dispatch.
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
    """Return whether one of ``permissions`` ({names: operations}) grants the attach.

    As Dispatch with our patch ``policy-host`` reads them: names end at a comma and are compared
    without scheme and host; a final ``*`` opens all that begins so, and a lone one opens everything
    but internal names. Levels and ``#`` mean nothing here.
    """
    asked = without_host(address)
    return any(
        operation in operations
        and any(_grants(without_host(name), asked) for name in names.split(","))
        for names, operations in permissions.items()
    )


def without_host(address: str) -> str:
    """Return the part of an address by which it is routed: ``amqp://host/a`` is ``a``.

    Source: Qpid Dispatch, ``iterator.c``, ``view_initialize``.
    """
    slash = 0 if address.startswith("/") else address.find(":/", 1) + 1
    if slash == 0 and not address.startswith("/"):
        return address
    if address[slash - 2 : slash] == "::":
        return address  # the second colon of two is no end of a scheme
    rest = address[slash + 1 :]
    if rest.startswith("/"):
        _, has_more, rest = rest[1:].partition("/")
        return rest if has_more else address
    return rest or address


def _grants(name: str, asked: str) -> bool:
    if name == "*":
        return not asked.startswith(("$", "_"))
    return name == asked or (name.endswith("*") and asked.startswith(name[:-1]))
