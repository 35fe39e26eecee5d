"""Address patterns of permissions: ``*`` is one level, a final ``#`` is the rest; ``/`` separates.

``a/#`` opens ``a``, ``a/b`` and ``a/b/c``, never ``ab``; ``#`` opens everything. The broker driver
and the auth service both decide with this function, so a user may do the same in either space type.
"""


def matches(pattern: str, address: str) -> bool:
    """Return whether ``pattern`` opens ``address``. What is not a wildcard is compared exactly."""
    wanted, levels = pattern.split("/"), address.split("/")
    if wanted[-1] == "#":
        wanted = wanted[:-1]
        levels = levels[: len(wanted)]
    if len(wanted) != len(levels):
        return False
    return all(want in ("*", level) for want, level in zip(wanted, levels, strict=True))
