"""Match addresses with configured names and with permissions, as Dispatch does. Pure.

There are two notations, which must not be mixed. Prefixes and patterns of entities consist of
tokens that ``.`` or ``/`` separates (``PatternTable``). The names in permissions have no tokens
(``is_permitted``).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
_SEPARATORS = re.compile(r"[./]")  # a router does not distinguish the two


def tokens(text: str) -> tuple[str, ...]:
    """Return the parts of an address between ``.`` or ``/``, without leading separators."""
    return tuple(_SEPARATORS.split(text.lstrip("./")))


def of_prefix(prefix: str) -> tuple[str, ...]:
    """Return the tokens of the pattern that matches ``prefix`` and everything below it."""
    return (*tokens(prefix), "#")


@dataclass
class PatternTable(Generic[Item]):
    """A map from patterns, as tuples of tokens, to items, with a look-up by address.

    In a pattern ``*`` stands for one token, and ``#`` for any number of tokens.
    """

    _items: dict[tuple[str, ...], Item] = field(default_factory=dict)

    def add(self, pattern: tuple[str, ...], item: Item) -> bool:
        """Add an item; return False, and add nothing, if the table already has the same pattern."""
        if pattern in self._items:
            return False
        self._items[pattern] = item
        return True

    def remove(self, pattern: tuple[str, ...]) -> None:
        self._items.pop(pattern, None)

    def get(self, pattern: tuple[str, ...]) -> Item:
        """Return the item of exactly this pattern; raise KeyError without one."""
        return self._items[pattern]

    def find(self, address: str) -> Item | None:
        """Return the item of the most specific pattern that matches ``address``; None without one.

        Patterns are compared from the first token on: a literal token is more specific than ``*``,
        and ``*`` more than ``#``.
        """
        wanted = tokens(address)
        exact = self._items.get(wanted)
        # A pattern without wildcards is more specific than all others, so these need not be
        # compared.
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
        # "#" stands for any number of tokens, also for none.
        return any(_covers(pattern[1:], wanted[skip:]) for skip in range(len(wanted) + 1))
    return bool(wanted) and pattern[0] in ("*", wanted[0]) and _covers(pattern[1:], wanted[1:])


def is_permitted(permissions: Mapping[str, Iterable[str]], operation: str, address: str) -> bool:
    """Return whether ``permissions`` ({names: operations}) grant ``operation`` on ``address``.

    The rules are those of Dispatch with our patch ``policy-host``:

    * names are separated by commas and compared without scheme and host;
    * a final ``*`` matches every name with that beginning;
    * ``*`` alone matches everything except internal names;
    * levels and ``#`` have no meaning.
    """
    requested = without_host(address)
    return any(
        operation in operations
        and any(_grants(without_host(name), requested) for name in names.split(","))
        for names, operations in permissions.items()
    )


def without_host(address: str) -> str:
    """Return an address without scheme and host, as routing uses it: ``a`` of ``amqp://host/a``.

    Source: Qpid Dispatch, ``iterator.c``, ``view_initialize``.
    """
    # The position of the slash after the scheme's colon; 0 if there is no scheme.
    slash = 0 if address.startswith("/") else address.find(":/", 1) + 1
    if slash == 0 and not address.startswith("/"):
        return address
    if address[slash - 2 : slash] == "::":
        return address  # "::" separates address and queue; it does not end a scheme
    rest = address[slash + 1 :]
    if rest.startswith("/"):
        _, has_more, rest = rest[1:].partition("/")
        return rest if has_more else address
    return rest or address


def _grants(name: str, requested: str) -> bool:
    if name == "*":
        return not requested.startswith(("$", "_"))
    return name == requested or (name.endswith("*") and requested.startswith(name[:-1]))
