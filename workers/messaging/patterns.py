"""Match addresses with the address patterns of permissions. Pure.

Levels are separated by ``/``. ``*`` stands for one level, a final ``#`` for any number of levels.
So ``a/#`` matches ``a``, ``a/b`` and ``a/b/c``, never ``ab``; ``#`` matches everything. The broker
driver and the auth service use the same function, so permissions mean the same in both space types.
"""


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
