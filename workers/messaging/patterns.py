"""Address patterns of permissions, and filters: patterns that clients subscribe to.

Levels are separated by ``/``. ``*`` stands for one level, a final ``#`` for any number of levels.
So ``a/#`` matches ``a``, ``a/b`` and ``a/b/c``, never ``ab``; ``#`` matches everything. The broker
driver and the auth service use the same function, so permissions mean the same in both space types.

``plugin/waypost/broker/Patterns.java`` has ``covers`` and ``is_filter`` for the broker; a test
compares both.
"""

_LONGEST = 255  # characters of a filter, as of an address
_WILD = frozenset("#*+")


def matches(pattern: str, address: str) -> bool:
    """Return whether ``pattern`` matches ``address``.

    A ``*`` that is only a part of a level, and a ``#`` that is not the last level, are ordinary
    characters. All ordinary characters are compared exactly, upper and lower case too.
    """
    wanted, levels = pattern.split("/"), address.split("/")
    if wanted[-1] == "#":
        wanted = wanted[:-1]
        levels = levels[: len(wanted)]
    if len(wanted) != len(levels):
        return False
    return all(want in ("*", level) for want, level in zip(wanted, levels, strict=True))


def is_filter(address: str) -> bool:
    """Return whether ``address`` is a pattern to which clients of a broker can subscribe.

    It has a ``*`` as a whole level or a ``#`` as its last level. No other level contains ``*``,
    ``#``, ``+`` or white space. It has at most 255 characters, and is no internal name.
    """
    if len(address) > _LONGEST or address.startswith(("$", "activemq.")):
        return False
    levels = address.split("/")
    # ``#`` stands for all further levels, so it is a wildcard at the end only.
    wild = [
        level == "*" or (level == "#" and number == len(levels))
        for number, level in enumerate(levels, start=1)
    ]
    others = [level for level, is_wild in zip(levels, wild, strict=True) if not is_wild]
    return any(wild) and not any(
        letter in _WILD or letter.isspace() for level in others for letter in level
    )


def covers(pattern: str, wanted: str) -> bool:
    """Return whether ``pattern`` matches every address that the filter ``wanted`` matches."""
    wide, is_open = _fixed(pattern)
    narrow, is_wanted_open = _fixed(wanted)
    if not is_open and (is_wanted_open or len(narrow) != len(wide)):
        return False
    return len(narrow) >= len(wide) and all(
        level in ("*", other) for level, other in zip(wide, narrow, strict=False)
    )


def _fixed(pattern: str) -> tuple[list[str], bool]:
    """Return the levels before a final ``#``, and whether there is one.

    Every address has a level, so ``#`` alone is the same as ``*/#``.
    """
    levels = pattern.split("/")
    if levels[-1] != "#":
        return levels, False
    return levels[:-1] or ["*"], True
